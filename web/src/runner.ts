// Runs from the page: parameters, run, stop, and what the run said.
import * as api from "./api.ts";
import { announce, h, debounced, number, replace } from "./dom.ts";
import { store } from "./state.ts";
import { problem, sourceLine } from "./structure.ts";
import { matcher } from "./tree.ts";

interface Parameter {
    name: string;
    value: number | string | null;
    unit: string;
    comment: string;
    type: string;
    kind: "parameter" | "start";
    file: string;
    line: number;
    extents: number[];
    origin: "model" | "experiment";
}

/** What a run from here would use, unless it is changed; null: not given. */
interface Settings {
    stop: number | null;
    interval: number | null;
    tolerance: number | null;
    solver: string | null;
}

const SETTINGS: [string, string, string][] = [
    ["stop", "Stop time", "as given"],
    ["interval", "Interval", "a 500th of the run"],
    ["tolerance", "Tolerance", "as given"],
    ["solver", "Solver", "as given"],
];
const ROWS_MOST = 300;

export class Runner {
    private readonly filter = h("input", {
        type: "search",
        placeholder: "Filter parameters",
        "aria-label": "Filter parameters",
    });
    private readonly table = h("div", { class: "scroll parameters" });
    private readonly button = h("button", { class: "primary", id: "run", onclick: () => void this.run() }, "Run");
    private readonly stop = h("button", { id: "stop", onclick: () => void this.halt(), disabled: true }, "Stop");
    private readonly progress = h("span", { class: "soft", id: "progress", role: "status" });
    private readonly profile = h("input", { type: "checkbox", id: "profile" });
    private readonly message = h("div", { class: "message", id: "message", "aria-live": "polite" });
    private readonly settings = new Map<string, HTMLInputElement>();
    readonly root: HTMLElement;
    private parameters: Parameter[] = [];
    private readonly changed = new Map<string, string>(); /* whatever was typed is used, also what was there before */
    private readonly touched = new Set<string>();
    private isLoaded = false;
    private going: number | null = null;

    constructor(private readonly onPlace: (file: string, line: number) => void) {
        for (const [key, label, hint] of SETTINGS)
            this.settings.set(
                key,
                h("input", { id: `set-${key}`, placeholder: hint, "aria-label": label, autocomplete: "off" }),
            );
        for (const [key, input] of this.settings) input.addEventListener("input", () => this.touched.add(key));
        this.root = h(
            "div",
            { class: "runner view", hidden: true },
            h(
                "section",
                { class: "run-bar", "aria-label": "Run" },
                ...SETTINGS.map(([key, label]) => h("label", {}, h("span", {}, label), this.settings.get(key)!)),
                h(
                    "label",
                    { class: "check", title: "Count the work of each line of the source" },
                    this.profile,
                    "profile",
                ),
                this.button,
                this.stop,
                this.progress,
            ),
            this.message,
            h("section", { "aria-label": "Parameters" }, h("div", { class: "search-row" }, this.filter), this.table),
        );
        this.filter.addEventListener(
            "input",
            debounced(60, () => this.render()),
        );
        this.root.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && (event.target as HTMLElement).tagName === "INPUT") void this.run();
        });
        store.on("state", () => this.onState());
    }

    async load(): Promise<void> {
        if (this.isLoaded || store.state.model.state === "working") return;
        this.isLoaded = true;
        try {
            const answer = await api.json<{ parameters: Parameter[]; settings: Settings; experiment: string | null }>(
                "api/parameters",
            );
            this.parameters = answer.parameters;
            this.fill(answer.settings, answer.experiment);
            this.render();
        } catch (error) {
            this.isLoaded = false;
            replace(this.table, problem(error));
        }
    }

    /** The fields show what is in force; where it comes from is told. */
    private fill(settings: Settings, experiment: string | null): void {
        for (const [key, input] of this.settings) {
            const value = settings[key as keyof Settings];
            if (!this.touched.has(key)) input.value = value == null ? "" : String(value);
            input.title = experiment && value != null ? `with ${experiment}` : "";
        }
    }

    private render(): void {
        const fits = matcher(this.filter.value.trim());
        const found = this.parameters.filter((p) => fits(p.name));
        const rows = found.slice(0, ROWS_MOST).map((p) => {
            const original = p.value == null ? "" : String(p.value);
            const input = h("input", {
                value: this.changed.get(p.name) ?? original,
                "aria-label": p.name,
                "data-name": p.name,
                placeholder: p.extents.length && p.value == null ? "{…}" : "",
                title: p.extents.length ? "Elements in braces, row by row: {{1, 2}, {3, 4}}" : "",
                class: p.extents.length ? "array" : "",
                autocomplete: "off",
                spellcheck: "false",
            });
            const mark = () => {
                if (input.value.trim()) this.changed.set(p.name, input.value);
                else this.changed.delete(p.name);
                input.classList.toggle("changed", this.changed.has(p.name));
            };
            input.addEventListener("input", mark);
            input.classList.toggle("changed", this.changed.has(p.name));
            return h(
                "tr",
                {},
                h(
                    "th",
                    { scope: "row" },
                    p.name,
                    p.extents.length ? h("span", { class: "soft" }, ` [${p.extents.join(",")}]`) : null,
                ),
                h("td", {}, input),
                h("td", { class: "soft left" }, p.unit),
                h(
                    "td",
                    { class: "soft left origin" },
                    [p.kind === "start" ? "start value" : "", p.origin === "experiment" ? "of the experiment" : ""]
                        .filter(Boolean)
                        .join(", "),
                ),
                h("td", { class: "soft left" }, p.comment),
                h(
                    "td",
                    { class: "left" },
                    p.line
                        ? h(
                              "button",
                              { class: "link", onclick: () => this.onPlace(p.file, p.line) },
                              `${p.file.replace(/^.*\//, "")}:${p.line}`,
                          )
                        : null,
                ),
            );
        });
        replace(
            this.table,
            h("table", {}, h("tbody", {}, ...rows)),
            found.length > ROWS_MOST &&
                h("p", { class: "soft" }, `${found.length - ROWS_MOST} more; filter to see them`),
            !this.parameters.length && h("p", { class: "soft" }, "The model has no parameters."),
        );
    }

    private async run(): Promise<void> {
        if (this.button.disabled) return;
        const fields: [string, string][] = [];
        for (const [key, input] of this.settings)
            if (this.touched.has(key) && input.value.trim()) fields.push([key, input.value.trim()]);
        for (const [name, value] of this.changed) fields.push(["set", `${name}=${value}`]);
        if (this.profile.checked) fields.push(["profile", "1"]);
        replace(this.message);
        try {
            const answer = await api.post<{ run: number }>("api/run", fields);
            this.going = answer.run;
            announce("The run has begun");
            this.onState(); /* its end may have been told before this answer */
        } catch (error) {
            replace(this.message, problem(error));
        }
    }

    private async halt(): Promise<void> {
        const run = store.state.runs.find((r) => r.state === "running");
        if (run) await api.post("api/stop", [["run", String(run.id)]]);
    }

    private onState(): void {
        const run = store.state.runs.find((r) => r.state === "running");
        this.button.disabled = !!run;
        this.stop.disabled = !run;
        this.progress.textContent = run ? (run.rows ? `time ${number(run.to)}, ${run.rows} points` : "starting…") : "";
        const mine = store.state.runs.find((r) => r.id === this.going);
        if (mine && mine.state !== "running") {
            this.going = null;
            this.report(mine);
        }
        if (store.state.model.state !== "working" && !this.root.hidden) void this.load();
    }

    /** What the run said; places in the source become links. */
    private report(run: api.RunInfo): void {
        const title =
            run.state === "done"
                ? `${run.name} is done`
                : run.state === "stopped"
                  ? `${run.name} was stopped`
                  : `${run.name} failed`;
        const text = h("pre", {});
        for (const line of run.message.trimEnd().split("\n")) {
            const place = /^(.*?)([^\s:]+\.\w+):(\d+):(\d+)(:.*)$/.exec(line);
            if (!place) {
                text.append(`${line}\n`);
                continue;
            }
            const [, before, file, number, , after] = place;
            const show = () => this.onPlace(file, Number(number));
            const code = h("code", { class: "quoted" });
            text.append(before, h("button", { class: "link", onclick: show }, `${file}:${number}`), `${after}\n`, code);
            void sourceLine(file, Number(number)).then((source) => {
                if (source && !run.message.includes(source)) code.textContent = `${source}\n`;
            });
        }
        replace(
            this.message,
            h(
                "p",
                { class: run.state === "failed" ? "bad" : "good" },
                title,
                run.rows ? " " : null,
                run.rows ? h("button", { class: "small", onclick: () => this.look() }, "See the curves") : null,
            ),
            run.message.trim() ? text : null,
        );
        announce(title);
    }

    private look(): void {
        store.layout.view = "plots";
        store.emit("layout");
    }
}
