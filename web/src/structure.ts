// The model as glass: components, the diagram, and for each variable where it is declared and what defines it.
import * as api from "./api.ts";
import { announce, h, debounced, replace } from "./dom.ts";
import { store } from "./state.ts";
import { matcher } from "./tree.ts";

interface Component {
    name: string;
    path: string;
    class: string;
    parent: number;
    variables: number;
}

interface Behind {
    name: string;
    declared: api.Place | null;
    unit: string;
    comment: string;
    use: string;
    alias_of: string | null;
    definitions: { how: string; of: number; place: api.Place | null }[];
    reads: string[];
}

const HOW: Record<string, string> = {
    equation: "Equation",
    system: "Equation of a system",
    event: "Assigned at an event",
    value: "Value",
};

export function problem(error: unknown): HTMLElement {
    const failure = error as api.ApiError;
    const list = (failure.diagnostics ?? []).map((d) =>
        h(
            "li",
            {},
            h("strong", {}, d.file ? `${d.file}:${d.line}: ` : ""),
            `${d.message} `,
            h("span", { class: "soft" }, d.code ?? ""),
            d.help ? h("div", { class: "soft" }, d.help) : null,
        ),
    );
    return h(
        "div",
        { class: "problem", role: "alert" },
        h("p", {}, failure.message),
        list.length ? h("ul", {}, ...list) : null,
    );
}

/** A line of a file of the model; "" where it is none. */
export async function sourceLine(file: string, line: number): Promise<string> {
    try {
        const { files } = await api.json<{ files: string[] }>("api/structure");
        const source = files.findIndex((f) => f === file || f.endsWith(`/${file}`));
        if (source < 0) return "";
        const response = await fetch(`api/source?id=${source}`);
        return response.ok ? ((await response.text()).split(/\r\n|\n|\r/)[line - 1] ?? "") : "";
    } catch {
        return "";
    }
}

export class Structure {
    private readonly search = h("input", {
        type: "search",
        placeholder: "Variable",
        "aria-label": "Search variables of the model",
        list: "model-variables",
    });
    private readonly components = h("div", { class: "components" });
    private readonly diagram = h("div", { class: "diagram" });
    private readonly glass = h("section", {
        class: "glass",
        "aria-label": "Behind the variable",
        "aria-live": "polite",
    });
    private readonly found = h("ul", { class: "found" });
    readonly root = h(
        "div",
        { class: "structure view", hidden: true },
        h("aside", { class: "side" }, h("div", { class: "search-row" }, this.search), this.found, this.components),
        h("div", { class: "stage" }, this.diagram, this.glass),
    );
    private tree: Component[] = [];
    private files: string[] = [];
    private loading: Promise<void> | null = null;
    private depth = 1;

    constructor(private readonly onPlot: (name: string) => void) {
        this.search.addEventListener(
            "input",
            debounced(80, () => this.renderFound()),
        );
        this.search.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && this.search.value.trim()) void this.explain(this.search.value.trim());
        });
    }

    /** Once; whoever asks while it is under way waits for the same answer. */
    load(): Promise<void> {
        if (store.state.model.state === "working") return Promise.resolve();
        this.loading ??= this.fetch();
        return this.loading;
    }

    private async fetch(): Promise<void> {
        try {
            const answer = await api.json<{ components: Component[]; files: string[] }>("api/structure");
            this.tree = answer.components;
            this.files = answer.files;
            this.renderComponents();
            this.renderDiagram();
            if (!this.glass.childElementCount)
                replace(
                    this.glass,
                    h("p", { class: "soft" }, "Choose a variable to see where it is declared and what defines it."),
                );
        } catch (error) {
            this.loading = null;
            replace(this.glass, problem(error));
        }
    }

    private renderFound(): void {
        const text = this.search.value.trim();
        const names = text ? [...store.modelUnits.keys()].filter(matcher(text)).slice(0, 50) : [];
        replace(
            this.found,
            ...names.map((name) =>
                h("li", {}, h("button", { class: "link", onclick: () => void this.explain(name) }, name)),
            ),
        );
    }

    private renderComponents(): void {
        const children = new Map<number, number[]>();
        this.tree.forEach((c, k) => {
            if (k) children.set(c.parent, [...(children.get(c.parent) ?? []), k]);
        });
        let shown = 0;
        const item = (k: number, level: number): HTMLElement => {
            const component = this.tree[k];
            const below = children.get(k) ?? [];
            const label = [
                h("span", { class: "name" }, component.name),
                component.class !== component.name && h("span", { class: "soft" }, ` ${component.class}`),
            ];
            const pick = () => {
                this.search.value = component.path ? `${component.path}.` : "";
                this.renderFound();
            };
            shown++;
            if (!below.length || shown > 2000)
                return h(
                    "div",
                    { class: "component", style: `padding-left:${14 * level}px` },
                    h("button", { class: "link", onclick: pick }, ...label),
                );
            return h(
                "details",
                { open: level < 1, style: `padding-left:${level ? 14 : 0}px` },
                h(
                    "summary",
                    {},
                    h("span", { onclick: pick }, ...label),
                    h("span", { class: "soft" }, ` ${below.length}`),
                ),
                ...below.slice(0, 500).map((b) => item(b, level + 1)),
            );
        };
        replace(this.components, h("h2", {}, "Components"), item(0, 0));
    }

    private renderDiagram(): void {
        const picture = h("img", {
            src: `api/diagram.svg?depth=${this.depth}`,
            alt: "Diagram of the components and their connections",
        });
        picture.addEventListener("click", () => picture.classList.toggle("whole"));
        const note = h("p", { class: "soft" });
        picture.addEventListener("error", () => (note.textContent = "The diagram is too large to be drawn."));
        const select = h(
            "select",
            {
                "aria-label": "Levels of the diagram",
                onchange: (event: Event) => {
                    this.depth = Number((event.target as HTMLSelectElement).value);
                    this.renderDiagram();
                },
            },
            ...[1, 2, 3].map((d) =>
                h("option", { value: d, selected: d === this.depth }, `${d} level${d > 1 ? "s" : ""}`),
            ),
        );
        const isFlat = this.tree.length <= 1;
        replace(this.diagram, !isFlat && h("div", { class: "diagram-tools" }, select), picture, note);
    }

    // ---- one variable ----
    async explain(name: string): Promise<void> {
        await this.load();
        try {
            const behind = await api.json<Behind>(`api/variable?name=${encodeURIComponent(name)}`);
            this.renderBehind(behind, name);
            announce(`${behind.name}: ${behind.definitions.length} definitions`);
        } catch (error) {
            replace(this.glass, problem(error));
        }
    }

    private place(place: api.Place | null): HTMLElement {
        if (!place) return h("p", { class: "soft" }, "made by the compiler");
        return h(
            "div",
            { class: "place" },
            h(
                "button",
                { class: "link where", onclick: () => void this.showSource(place.source, place.line) },
                `${place.file}:${place.line}`,
            ),
            h("pre", {}, place.text),
        );
    }

    private renderBehind(behind: Behind, asked: string): void {
        const isPlotted = store.runs.some((run) => store.variables.get(run.id)?.index.has(asked));
        replace(
            this.glass,
            h(
                "header",
                {},
                h("h2", { id: "glass-name" }, behind.name),
                h("span", { class: "soft" }, [behind.use, behind.unit].filter(Boolean).join(", ")),
                h("span", { class: "grow" }),
                isPlotted && h("button", { onclick: () => this.onPlot(asked) }, "Plot"),
            ),
            behind.comment ? h("p", {}, behind.comment) : null,
            behind.alias_of
                ? h(
                      "p",
                      {},
                      "The same value as ",
                      h(
                          "button",
                          { class: "link", onclick: () => void this.explain(behind.alias_of!) },
                          behind.alias_of,
                      ),
                      ".",
                  )
                : null,
            h("h3", {}, "Declared"),
            this.place(behind.declared),
            ...behind.definitions
                .filter((d) => d.how !== "value")
                .flatMap((d) => [
                    h("h3", {}, (HOW[d.how] ?? d.how) + (d.of > 1 ? ` of ${d.of} that are solved together` : "")),
                    this.place(d.place),
                ]),
            behind.reads.length ? h("h3", {}, "Depends on") : null,
            h(
                "p",
                { class: "reads" },
                ...behind.reads.map((name) =>
                    h("button", { class: "link", onclick: () => void this.explain(name) }, name),
                ),
            ),
        );
        this.glass.scrollTop = 0;
    }

    // ---- source text ----
    async showFile(file: string, line: number): Promise<void> {
        await this.load();
        const source = this.files.findIndex((f) => f === file || f.endsWith(`/${file}`));
        if (source >= 0) await this.showSource(source, line);
    }

    async showSource(source: number, line: number): Promise<void> {
        await this.load();
        const response = await fetch(`api/source?id=${source}`);
        if (!response.ok) return;
        const lines = (await response.text()).split(/\r\n|\n|\r/);
        const list = h(
            "ol",
            { class: "source" },
            ...lines.map((text, k) =>
                h("li", { class: k + 1 === line ? "here" : null, value: k + 1 }, h("code", {}, text || " ")),
            ),
        );
        replace(this.glass, h("header", {}, h("h2", {}, `${this.files[source]}:${line}`)), list);
        list.querySelector(".here")?.scrollIntoView({ block: "center" });
    }
}
