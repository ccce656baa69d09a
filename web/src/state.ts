// What is shown: kept in the address, saved to a file, and the data fetched for it.
import * as api from "./api.ts";
import { debounced } from "./dom.ts";

export interface PaneLayout {
    curves: string[];
    x: string; // "time" or a variable
    events: boolean;
    difference: boolean; // to the first run shown
}

export interface Layout {
    "koine-layout": 1;
    view: string;
    panes: PaneLayout[];
    hidden: number[]; // runs that are not shown; in addresses and files: "runs"
    window: { from: number; to: number } | null; // null: all
    units: Record<string, string>; // display units by variable
}

export const PANES_MOST = 20;

export const emptyPane = (): PaneLayout => ({ curves: [], x: "time", events: true, difference: false });

const nothing = (): Layout => ({
    "koine-layout": 1,
    view: "plots",
    panes: [emptyPane()],
    hidden: [],
    window: null,
    units: {},
});

/** Anything may stand in an address or a file: only what has the right form is taken. */
export function readLayout(from: any): Layout | null {
    if (!from || from["koine-layout"] !== 1 || !Array.isArray(from.panes)) return null;
    const layout = nothing();
    const isText = (v: unknown): v is string => typeof v === "string" && v.length < 1000;
    if (isText(from.view)) layout.view = from.view;
    layout.panes = from.panes.slice(0, PANES_MOST).map((p: any) => ({
        curves: Array.isArray(p?.curves) ? p.curves.filter(isText).slice(0, 100) : [],
        x: isText(p?.x) ? p.x : "time",
        events: p?.events !== false,
        difference: p?.difference === true,
    }));
    if (!layout.panes.length) layout.panes = nothing().panes;
    if (Array.isArray(from.runs)) layout.hidden = from.runs.filter((r: unknown) => Number.isInteger(r));
    const w = from.window;
    if (w && Number.isFinite(w.from) && Number.isFinite(w.to) && w.from < w.to)
        layout.window = { from: w.from, to: w.to };
    for (const [name, unit] of Object.entries(from.units ?? {})) if (isText(unit)) layout.units[name] = unit;
    return layout;
}

/** The text of a layout for an address or a file, which readLayout reads. */
export function writeLayout({ hidden, ...layout }: Layout, indent?: number): string {
    const { window, units, ...rest } = layout;
    return JSON.stringify({ ...rest, runs: hidden, window, units }, null, indent);
}

type Event = "state" | "layout" | "window" | "variables" | "active";

class Store {
    state: api.State = { revision: -1, koine: "", model: { state: "none", target: null, changed: "" }, runs: [] };
    layout: Layout = nothing();
    active = 0; // pane that takes new curves
    hasLayout = false; // from the address or a file
    readonly variables = new Map<number, api.Variables>();
    private readonly listeners = new Map<Event, Set<() => void>>();

    on(event: Event, f: () => void): void {
        if (!this.listeners.has(event)) this.listeners.set(event, new Set());
        this.listeners.get(event)!.add(f);
    }

    emit(event: Event): void {
        this.listeners.get(event)?.forEach((f) => f());
        if (event === "layout" || event === "window") this.save();
    }

    private readonly save = debounced(150, () => {
        history.replaceState(null, "", `#${encodeURIComponent(writeLayout(this.layout))}`);
    });

    /** Takes the layout of an address, if it has one. */
    load(address: string): boolean {
        try {
            const layout = readLayout(JSON.parse(decodeURIComponent(new URL(address).hash.slice(1))));
            if (!layout) return false;
            this.layout = layout;
            this.hasLayout = true;
            return true;
        } catch {
            return false; /* an address without a layout, or with a broken one */
        }
    }

    /** Runs with something to see. */
    get runs(): api.RunInfo[] {
        return this.state.runs.filter((r) => r.rows > 0);
    }

    get shown(): api.RunInfo[] {
        return this.runs.filter((r) => !this.layout.hidden.includes(r.id));
    }

    async ensureVariables(run: number): Promise<api.Variables> {
        let known = this.variables.get(run);
        if (!known) {
            known = await api.variables(run);
            this.variables.set(run, known);
            this.emit("variables");
        }
        return known;
    }

    /** Where a variable is described: in the first shown run that has it. */
    describe(name: string): { unit: string; comment: string; discrete: boolean; constant: boolean } {
        for (const run of [...this.shown, ...this.runs]) {
            const variables = this.variables.get(run.id);
            const k = variables?.index.get(name);
            if (variables && k !== undefined)
                return {
                    unit: variables.units[k] || this.modelUnits.get(name)?.unit || "",
                    comment: variables.comments[k] || this.modelUnits.get(name)?.comment || "",
                    discrete: variables.discrete[k],
                    constant: variables.constant[k],
                };
        }
        return { unit: "", comment: "", discrete: false, constant: false };
    }

    modelUnits = new Map<string, { unit: string; comment: string }>();

    toggleCurve(name: string, pane = this.active): void {
        const { curves } = this.layout.panes[pane];
        const at = curves.indexOf(name);
        if (at >= 0) curves.splice(at, 1);
        else curves.push(name);
        this.emit("layout");
    }

    /** The whole range of time of the shown runs. */
    range(): { from: number; to: number } {
        let from = Infinity;
        let to = -Infinity;
        for (const run of this.shown) {
            if (run.from != null) from = Math.min(from, run.from);
            if (run.to != null) to = Math.max(to, run.to);
        }
        return from < to ? { from, to } : { from: 0, to: 1 };
    }

    setWindow(window: { from: number; to: number } | null): void {
        const all = this.range();
        if (window && (window.to - window.from <= (all.to - all.from) * 1e-12 || !(window.from < window.to))) return;
        if (window && window.from <= all.from && window.to >= all.to) window = null;
        this.layout.window = window;
        this.emit("window");
    }

    get window(): { from: number; to: number } {
        return this.layout.window ?? this.range();
    }
}

export const store = new Store();
