// What the compiler made of the model, and what a run cost.
import * as api from "./api.ts";
import { css, h, number, replace } from "./dom.ts";
import { store } from "./state.ts";
import { problem } from "./structure.ts";

interface Block {
    kind: string;
    size: number;
    moving: boolean;
    unknowns: string[];
    place: api.Place | null;
}

interface Incidence {
    size: number;
    cells: number;
    systems: number[];
    at: number[];
}

interface Profile {
    operations: number;
    lines: {
        file: string | null;
        line: number;
        what: string;
        text: string;
        executions: number;
        operations: number;
        share: number;
    }[];
}

const FIGURES: [string, string][] = [
    ["solver", "solver"],
    ["end", "end"],
    ["points", "points"],
    ["steps", "steps"],
    ["rejected_steps", "rejected"],
    ["evaluations", "evaluations"],
    ["jacobians", "Jacobians"],
    ["state_events", "state events"],
    ["time_events", "time events"],
    ["newton_iterations", "Newton iterations"],
    ["linear_solves", "linear systems solved"],
    ["compile_seconds", "compiling [s]"],
    ["run_seconds", "running [s]"],
];

interface Known {
    begin: { settings?: { set?: Record<string, string> } & Record<string, unknown> } | null;
    end: Record<string, unknown> | null;
}

function settingsOf(known: Known | null): string {
    const { set, ...others } = known?.begin?.settings ?? {};
    return Object.entries({ ...others, ...set })
        .filter(([, value]) => typeof value !== "object")
        .map(([name, value]) => `${name}=${value}`)
        .join(", ");
}

export class Analysis {
    private readonly statistics = h("section", { "aria-label": "Statistics" });
    private readonly profile = h("section", { "aria-label": "Profile" });
    private readonly picture = h("section", { "aria-label": "Incidence" });
    private readonly blocks = h("section", { "aria-label": "Blocks" });
    readonly root = h(
        "div",
        { class: "analysis view", hidden: true },
        this.statistics,
        this.profile,
        this.picture,
        this.blocks,
    );
    private hasModel = false;

    private profiled: number | null = null; // the run whose profile is shown

    constructor(
        private readonly onSource: (source: number, line: number) => void,
        private readonly onPlace: (file: string, line: number) => void,
    ) {
        store.on("state", () => {
            if (!this.root.hidden) void this.load();
        });
    }

    async load(): Promise<void> {
        await this.loadStatistics();
        if (store.state.model.target && store.state.model.state !== "working" && !this.hasModel) {
            this.hasModel = true;
            await this.loadModel();
        }
    }

    // ---- runs ----
    private async loadStatistics(): Promise<void> {
        const runs = store.state.runs.filter((r) => r.state !== "unreadable");
        const answers = await Promise.all(
            runs.map((run) =>
                !run.statistics ? null : api.json<Known>(`api/statistics?run=${run.id}`).catch(() => null),
            ),
        );
        const known = answers.map((a) => a?.end);
        const rows: [string, (k: number) => string][] = [
            ["state", (k) => runs[k].state],
            ["points kept", (k) => String(runs[k].rows)],
            ["variables", (k) => String(Math.max(0, runs[k].variables - 1))],
            ["time", (k) => `${number(runs[k].from)} … ${number(runs[k].to)}`],
            ["settings", (k) => settingsOf(answers[k]) || runs[k].settings.join(", ")],
            ...FIGURES.filter(([key]) => known.some((s) => s?.[key] != null)).map(
                ([key, label]): [string, (k: number) => string] => [
                    label,
                    (k) => {
                        const value = known[k]?.[key];
                        return typeof value === "number" ? number(value) : String(value ?? "");
                    },
                ],
            ),
        ];
        replace(
            this.statistics,
            h("h2", {}, "Runs"),
            runs.length
                ? h(
                      "div",
                      { class: "scroll" },
                      h(
                          "table",
                          {},
                          h(
                              "thead",
                              {},
                              h("tr", {}, h("th", {}), ...runs.map((r) => h("th", { scope: "col" }, r.name))),
                          ),
                          h(
                              "tbody",
                              {},
                              ...rows.map(([label, value]) =>
                                  h(
                                      "tr",
                                      {},
                                      h("th", { scope: "row" }, label),
                                      ...runs.map((_, k) => h("td", {}, value(k))),
                                  ),
                              ),
                          ),
                      ),
                  )
                : h("p", { class: "soft" }, "No run yet."),
        );
        const last = [...runs].reverse().find((r) => r.profile);
        if (last && last.id === this.profiled) return; /* its links stay while another run reports */
        this.profiled = null;
        if (last) await this.loadProfile(last);
        else
            replace(
                this.profile,
                store.state.model.target
                    ? h(
                          "p",
                          { class: "soft" },
                          "Run with “profile” to see which lines of the source the work went into.",
                      )
                    : null,
            );
    }

    private async loadProfile(run: api.RunInfo): Promise<void> {
        const profile = await api.json<Profile>(`api/profile?run=${run.id}`).catch(() => null);
        if (!profile) return;
        this.profiled = run.id;
        replace(
            this.profile,
            h("h2", {}, `Profile of ${run.name}`),
            h(
                "div",
                { class: "scroll" },
                h(
                    "table",
                    { class: "profile" },
                    h(
                        "thead",
                        {},
                        h("tr", {}, ...["share", "executions", "line", ""].map((t) => h("th", { scope: "col" }, t))),
                    ),
                    h(
                        "tbody",
                        {},
                        ...profile.lines
                            .slice(0, 40)
                            .map((line) =>
                                h(
                                    "tr",
                                    {},
                                    h(
                                        "td",
                                        {},
                                        h(
                                            "span",
                                            { class: "share", style: `--share:${line.share}` },
                                            `${(100 * line.share).toFixed(1)} %`,
                                        ),
                                    ),
                                    h("td", {}, String(line.executions)),
                                    h(
                                        "td",
                                        {},
                                        line.file
                                            ? h(
                                                  "button",
                                                  { class: "link", onclick: () => this.onPlace(line.file!, line.line) },
                                                  `${line.file}:${line.line}`,
                                              )
                                            : "–",
                                    ),
                                    h("td", { class: "left" }, h("code", {}, line.text)),
                                ),
                            ),
                    ),
                ),
            ),
        );
    }

    // ---- the model ----
    private async loadModel(): Promise<void> {
        try {
            const incidence = await api.json<Incidence>("api/incidence");
            this.renderIncidence(incidence);
            await this.loadBlocks(0);
        } catch (error) {
            this.hasModel = false;
            replace(this.picture, problem(error));
        }
    }

    private renderIncidence(incidence: Incidence): void {
        const { cells, size, at, systems } = incidence;
        const side = Math.min(480, Math.max(160, cells * 8));
        const canvas = h("canvas", {
            width: side * 2,
            height: side * 2,
            class: "incidence",
            role: "img",
            "aria-label": `Incidence of ${size} equations and unknowns in the order of computation; ${systems.length / 2} systems`,
        });
        canvas.style.width = `${side}px`;
        const g = canvas.getContext("2d")!;
        const cell = (side * 2) / Math.max(1, cells);
        g.fillStyle = css("--system");
        for (let k = 0; k < systems.length; k += 2) {
            const from = (systems[k] / size) * side * 2;
            const extent = Math.max(cell, (systems[k + 1] / size) * side * 2);
            g.fillRect(from, from, extent, extent);
        }
        for (let k = 0; k < at.length; k += 3) {
            g.fillStyle = at[k] === at[k + 1] ? css("--curve-0") : css("--ink-soft");
            const inset = cell > 4 ? 1 : 0;
            g.fillRect(
                at[k + 1] * cell + inset,
                at[k] * cell + inset,
                Math.max(1, cell - 2 * inset),
                Math.max(1, cell - 2 * inset),
            );
        }
        replace(
            this.picture,
            h("h2", {}, "Incidence"),
            h(
                "p",
                { class: "soft" },
                `${size} equations (rows) and their unknowns (columns) in the order of computation; shaded squares are systems solved together.`,
            ),
            canvas,
        );
    }

    private async loadBlocks(first: number): Promise<void> {
        const answer = await api.json<{ total: number; first: number; blocks: Block[] }>(`api/blocks?first=${first}`);
        const rows = answer.blocks.map((block, k) =>
            h(
                "tr",
                {},
                h("td", {}, String(first + k + 1)),
                h("td", { class: "left" }, block.kind + (block.size > 1 ? ` of ${block.size}` : "")),
                h(
                    "td",
                    { class: "left" },
                    block.unknowns.join(", ") +
                        (block.size > block.unknowns.length && block.unknowns.length ? ", …" : ""),
                ),
                h(
                    "td",
                    { class: "left" },
                    block.place
                        ? h(
                              "button",
                              { class: "link", onclick: () => this.onSource(block.place!.source, block.place!.line) },
                              `${block.place.file}:${block.place.line}`,
                          )
                        : null,
                ),
                h("td", { class: "left" }, h("code", {}, (block.place?.text ?? "").trim().split("\n")[0])),
            ),
        );
        const page = 500;
        replace(
            this.blocks,
            h("h2", {}, `Blocks (${answer.total})`),
            h(
                "div",
                { class: "scroll" },
                h(
                    "table",
                    { class: "blocks" },
                    h(
                        "thead",
                        {},
                        h("tr", {}, ...["", "kind", "unknowns", "line", ""].map((t) => h("th", { scope: "col" }, t))),
                    ),
                    h("tbody", {}, ...rows),
                ),
            ),
            h(
                "p",
                {},
                first > 0 && h("button", { onclick: () => void this.loadBlocks(Math.max(0, first - page)) }, "Earlier"),
                first + page < answer.total &&
                    h("button", { onclick: () => void this.loadBlocks(first + page) }, "More"),
            ),
        );
    }
}
