// The view of curves: runs and variables on the left, panes and the table of values on the right.
import * as api from "./api.ts";
import { announce, download, forgetColours, h, debounced, number, replace } from "./dom.ts";
import { feeder } from "./feeder.ts";
import { colourOf, drawnOf, Pane } from "./pane.ts";
import { emptyPane, PANES_MOST, store } from "./state.ts";
import { svg } from "./svg.ts";
import { Tree } from "./tree.ts";
import { choices, shown } from "./units.ts";

const OTHER = "\n"; // no name of a variable
export class Plots {
    private readonly tree: Tree;
    private readonly runs = h("section", { class: "runs", "aria-label": "Runs" });
    private readonly side = h("aside", { class: "side", id: "side" });
    private readonly panes = h("div", { class: "panes" });
    private readonly table = h("div", { class: "values", id: "values" });
    private readonly problem = h("div", { class: "problem", role: "alert", hidden: true });
    readonly root = h(
        "div",
        { class: "plots view" },
        this.side,
        h("div", { class: "stage" }, this.tools(), this.problem, this.panes, this.table),
    );
    private shownPanes: Pane[] = [];
    private cursor: number | null = null;
    private exact = new Map<string, number | null>(); // run/name at that time
    private exactTime: number | null = null;
    private paneKey = "";
    private readonly runRows = new Map<number, ReturnType<Plots["makeRunRow"]>>();
    private readonly runsTitle = h("h2", {}, "Runs");
    private readonly noRun = h("p", { class: "soft" }, "No run yet");

    constructor(onExplain: (name: string) => void) {
        this.tree = new Tree(onExplain);
        this.side.append(this.runs, this.tree.root);
        store.on("state", () => this.onState());
        store.on("variables", () => this.onVariables());
        store.on("layout", () => this.onLayout());
        store.on("active", () => this.onLayout());
        store.on("window", () => {
            for (const pane of this.shownPanes) pane.applyWindow();
            feeder.update();
        });
        feeder.on(() => this.draw());
        feeder.on(() => this.showProblem());
        new ResizeObserver(() => this.resize()).observe(this.panes);
        this.onLayout();
    }

    /** What the server could not give stands above the panes, until it can. */
    private showProblem(): void {
        const text = feeder.problem ?? "";
        if (this.problem.textContent !== text) this.problem.textContent = text;
        this.problem.hidden = !text;
    }

    focusSearch(): void {
        this.side.classList.add("open");
        this.tree.search.focus();
        this.tree.search.select();
    }

    /** Colours have changed. */
    repaint(): void {
        forgetColours();
        this.paneKey = "";
        this.onLayout();
    }

    private tools(): HTMLElement {
        const zoom = (factor: number) => () => this.shownPanes[0]?.zoom(factor);
        return h(
            "div",
            { class: "tools", role: "toolbar", "aria-label": "Plots" },
            h("button", { class: "only-narrow", onclick: () => this.side.classList.toggle("open") }, "Variables"),
            h("button", { onclick: () => this.addPane(), title: "Another pane below (n)" }, "+ Pane"),
            h("button", { class: "icon", onclick: zoom(0.5), title: "Zoom in (+)", "aria-label": "Zoom in" }, "+"),
            h("button", { class: "icon", onclick: zoom(2), title: "Zoom out (−)", "aria-label": "Zoom out" }, "−"),
            h("button", { id: "fit", onclick: () => store.setWindow(null), title: "The whole run (0)" }, "Fit"),
            h("span", { class: "grow" }),
            h(
                "button",
                { id: "export-csv", onclick: () => this.exportCsv(), title: "Curves of all panes, in the time shown" },
                "CSV",
            ),
            h(
                "button",
                { id: "export-svg", onclick: () => this.exportSvg(), title: "The pane in use as a picture" },
                "SVG",
            ),
        );
    }

    addPane(): void {
        if (store.layout.panes.length >= PANES_MOST) return;
        store.layout.panes.push(emptyPane());
        store.active = store.layout.panes.length - 1;
        store.emit("layout");
    }

    private removePane(at: number): void {
        store.layout.panes.splice(at, 1);
        if (!store.layout.panes.length) store.layout.panes.push(emptyPane());
        store.active = Math.min(store.active, store.layout.panes.length - 1);
        store.emit("layout");
    }

    // ---- what changes ----
    private onState(): void {
        this.renderRuns();
        for (const run of store.runs) void store.ensureVariables(run.id).catch(() => undefined);
        if (!store.layout.window) for (const pane of this.shownPanes) pane.applyWindow();
        feeder.update();
    }

    private onVariables(): void {
        const names = new Set<string>();
        for (const run of store.runs)
            for (const name of (store.variables.get(run.id)?.names ?? []).slice(1)) names.add(name);
        this.tree.setNames([...names]);
        if (!store.hasLayout && names.size && store.layout.panes.every((p) => !p.curves.length)) {
            store.hasLayout = true;
            store.layout.panes[0].curves.push(this.firstCurve([...names])); /* something to begin with */
            store.emit("layout");
        } else {
            this.onLayout(); /* units are known now */
        }
    }

    private firstCurve(names: string[]): string {
        const moves = (name: string) =>
            store.runs.some((run) => {
                const variables = store.variables.get(run.id);
                const k = variables?.index.get(name);
                return k !== undefined && !variables!.constant[k];
            });
        return names.find(moves) ?? names[0];
    }

    private onLayout(): void {
        const key = JSON.stringify([
            store.layout.panes,
            store.active,
            store.layout.hidden,
            store.layout.units,
            store.runs.map((r) => r.id),
            store.layout.panes.flatMap((p) => p.curves.map((name) => store.describe(name).unit)),
        ]);
        if (key !== this.paneKey) this.renderPanes();
        this.paneKey = key;
        this.renderRuns();
        this.tree.render();
        feeder.update();
        this.draw();
    }

    private draw(): void {
        for (const pane of this.shownPanes) pane.draw();
        this.renderTable();
    }

    private resize(): void {
        feeder.width = Math.max(300, this.panes.clientWidth);
        for (const pane of this.shownPanes) pane.resize();
        feeder.update();
    }

    // ---- runs ----
    /** A run's row is made once and changed in place: it keeps the focus and half-made clicks while a run goes on. */
    private renderRuns(): void {
        const rows = store.state.runs.map((run) => {
            const row = this.runRows.get(run.id) ?? this.makeRunRow(run.id);
            this.runRows.set(run.id, row);
            const order = store.shown.findIndex((r) => r.id === run.id);
            row.root.className = `run ${run.state}`;
            row.root.title = [run.file, ...run.settings, run.message].filter(Boolean).join("\n");
            row.box.checked = !store.layout.hidden.includes(run.id) && run.rows > 0;
            row.box.disabled = run.rows === 0;
            row.dash.className = `dash dash-${order >= 0 ? order % 5 : 0}`;
            row.name.textContent = run.name;
            row.label.className = `soft state-${run.state}`;
            row.label.textContent = run.state === "done" ? `${run.rows}` : run.state;
            const notes = [run.remark, run.changed && `the model has changed since this run (${run.changed})`].filter(
                Boolean,
            );
            row.note.hidden = !notes.length;
            row.note.textContent = notes.join("\n");
            return row.root;
        });
        const content = rows.length ? rows : [this.noRun];
        const old = [...this.runs.children].slice(1);
        if (content.length !== old.length || content.some((row, k) => row !== old[k]))
            replace(this.runs, this.runsTitle, ...content);
    }

    private makeRunRow(id: number) {
        const toggle = () => {
            const hidden = store.layout.hidden;
            const at = hidden.indexOf(id);
            if (at >= 0) hidden.splice(at, 1);
            else hidden.push(id);
            store.emit("layout");
        };
        const box = h("input", { type: "checkbox", onchange: toggle });
        const dash = h("span", { "aria-hidden": "true" });
        const name = h("span", { class: "name" });
        const label = h("span", {});
        const note = h("span", { class: "note", hidden: true });
        return { root: h("label", {}, box, dash, name, label, note), box, dash, name, label, note };
    }

    // ---- panes ----
    private renderPanes(): void {
        for (const pane of this.shownPanes) pane.destroy();
        this.shownPanes = store.layout.panes.map((layout, k) => new Pane(k, layout, (time) => this.onCursor(time)));
        replace(this.panes, ...this.shownPanes.map((pane, k) => this.paneElement(pane, k)));
        this.panes.style.setProperty("--panes", String(this.shownPanes.length));
    }

    private paneElement(pane: Pane, at: number): HTMLElement {
        const layout = store.layout.panes[at];
        const names = [...new Set(store.layout.panes.flatMap((p) => [...p.curves, p.x]))].filter((n) => n !== "time");
        const check = (label: string, key: "events" | "difference", title: string) =>
            h(
                "label",
                { class: "check", title },
                h("input", {
                    type: "checkbox",
                    checked: layout[key],
                    onchange: (event: Event) => {
                        layout[key] = (event.target as HTMLInputElement).checked;
                        store.emit("layout");
                    },
                }),
                label,
            );
        const axis = h(
            "select",
            {
                "aria-label": `Horizontal axis of pane ${at + 1}`,
                onchange: (event: Event) => {
                    const select = event.target as HTMLSelectElement;
                    if (select.value === OTHER) {
                        select.value = layout.x;
                        this.side.classList.add("open");
                        this.tree.chooseAxis(at, () => this.side.classList.remove("open"));
                        return;
                    }
                    layout.x = select.value;
                    store.emit("layout");
                },
            },
            ...["time", ...names].map((n) => h("option", { value: n, selected: n === layout.x }, n)),
            h("option", { value: OTHER }, "other…"),
        );
        return h(
            "section",
            {
                class: `pane${at === store.active ? " active" : ""}`,
                "aria-label": `Pane ${at + 1}`,
                onclick: () => {
                    if (store.active === at) return;
                    store.active = at;
                    store.emit("active");
                },
            },
            h(
                "header",
                {},
                h("div", { class: "chips" }, ...layout.curves.map((name, k) => this.chip(name, k, at))),
                h("span", { class: "grow" }),
                h("label", { class: "check" }, "over ", axis),
                check("events", "events", "Mark the times of events"),
                store.shown.length > 1 && check("difference", "difference", "Runs minus the first one shown"),
                h(
                    "button",
                    {
                        class: "icon",
                        "aria-label": `Remove pane ${at + 1}`,
                        title: "Remove this pane",
                        onclick: (e: Event) => {
                            e.stopPropagation();
                            this.removePane(at);
                        },
                    },
                    "×",
                ),
            ),
            pane.plotBox,
        );
    }

    private chip(name: string, k: number, pane: number): HTMLElement {
        const { unit, comment } = store.describe(name);
        const units = choices(unit);
        const chip = h(
            "span",
            { class: "chip", title: comment || name },
            h("i", { style: `background:${colourOf(k)}` }),
            h("span", {}, name),
        );
        if (units.length > 1)
            chip.append(
                h(
                    "select",
                    {
                        "aria-label": `Unit of ${name}`,
                        onchange: (event: Event) => {
                            store.layout.units[name] = (event.target as HTMLSelectElement).value;
                            store.emit("layout");
                        },
                    },
                    ...units.map((u) =>
                        h("option", { selected: u.unit === (store.layout.units[name] ?? unit) }, u.unit),
                    ),
                ),
            );
        else if (unit) chip.append(h("span", { class: "soft" }, unit));
        chip.append(
            h(
                "button",
                {
                    class: "icon",
                    "aria-label": `Remove ${name}`,
                    onclick: (event: Event) => {
                        event.stopPropagation();
                        store.toggleCurve(name, pane);
                    },
                },
                "×",
            ),
        );
        return chip;
    }

    // ---- values at the cursor ----
    private onCursor(time: number | null): void {
        if (time === this.cursor) return;
        this.cursor = time;
        if (time != null) this.askValues();
    }

    private readonly askValues = debounced(40, () => void this.fetchValues());

    private async fetchValues(): Promise<void> {
        const time = this.cursor;
        if (time == null) return;
        const names = [...new Set(store.layout.panes.flatMap((p) => p.curves))];
        const exact = new Map<string, number | null>();
        await Promise.all(
            store.shown.map(async (run) => {
                const variables = store.variables.get(run.id);
                const there = names.filter((n) => variables?.index.has(n));
                if (!variables || !there.length) return;
                const columns = there.map((n) => variables.index.get(n)!);
                const answer = await api.json<{ values: (number | null)[] }>(
                    `api/values?run=${run.id}&vars=${columns.join(",")}&time=${time}`,
                );
                there.forEach((n, k) => exact.set(`${run.id}/${n}`, answer.values[k]));
            }),
        ).catch(() => undefined);
        if (time !== this.cursor) return;
        this.exact = exact;
        this.exactTime = time;
        this.renderTable();
    }

    private renderTable(): void {
        const names = [...new Set(store.layout.panes.flatMap((p) => p.curves))];
        const runs = store.shown;
        if (!names.length || !runs.length) {
            replace(this.table);
            return;
        }
        const hasDifference = runs.length > 1;
        const head = h(
            "tr",
            {},
            h("th", { scope: "col" }, this.exactTime == null ? "at the cursor" : `time ${number(this.exactTime)}`),
            ...runs.map((r) => h("th", { scope: "col" }, r.name)),
            hasDifference && h("th", { scope: "col" }, "difference"),
            h("th", { scope: "col" }, "unit"),
        );
        const rows = names.map((name) => {
            const to = shown(store.describe(name).unit, store.layout.units[name]);
            const values = runs.map((run) => {
                const value = this.exact.get(`${run.id}/${name}`);
                return value == null ? NaN : value * to.factor + to.offset;
            });
            return h(
                "tr",
                {},
                h("th", { scope: "row" }, name),
                ...values.map((v) => h("td", {}, number(v))),
                hasDifference && h("td", {}, number(values[values.length - 1] - values[0])),
                h("td", { class: "soft" }, to.unit),
            );
        });
        replace(this.table, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
    }

    // ---- export ----
    private exportCsv(): void {
        const names = [...new Set(store.layout.panes.flatMap((p) => p.curves))];
        for (const run of store.shown) {
            const variables = store.variables.get(run.id);
            const columns = names.map((n) => variables?.index.get(n)).filter((k) => k !== undefined);
            if (!columns.length) continue;
            const { from, to } = store.window;
            const link = h("a", {
                href: `api/export.csv?run=${run.id}&vars=${columns.join(",")}&from=${from}&to=${to}`,
                download: `${run.name}.csv`,
            });
            document.body.append(link);
            link.click();
            link.remove();
        }
        announce("CSV exported");
    }

    private exportSvg(): void {
        const drawn = drawnOf(store.layout.panes[store.active]);
        if (!drawn.length) return;
        download("koine.svg", svg(drawn, store.window), "image/svg+xml");
        announce("SVG exported");
    }
}
