// Fetches what the panes show: for each run the curves of a window three times as wide as the picture, so that panning
// needs no request; finer ones when somebody zooms in.
import * as api from "./api.ts";
import { debounced } from "./dom.ts";
import { store } from "./state.ts";

interface Held {
    key: string; // which curves, of which state of the run
    from: number;
    to: number;
    width: number;
    data: api.Data;
    names: Map<string, number>;
}

export interface Curve {
    times: Float64Array;
    values: Float64Array;
}

const MARGIN = 1; // widths of the picture on either side
const EVENTS_MOST = 600; // more than that would only be a grey area

class Feeder {
    width = 1000; // pixels of the widest pane
    private readonly held = new Map<number, Held>();
    private readonly points = new Map<string, { key: string; data: api.Data }>();
    private readonly events = new Map<number, { state: string; from: number; to: number; times: number[] }>();
    private readonly busy = new Map<number, AbortController>();
    private readonly listeners = new Set<() => void>();
    problem: string | null = null; // what the last requests failed by, for people
    requests = 0; // for tests: how often the server was asked for curves

    on(f: () => void): void {
        this.listeners.add(f);
    }

    private emit(): void {
        this.listeners.forEach((f) => f());
    }

    readonly update = debounced(50, () => void this.refresh());

    private wanted(variables: api.Variables): string[] {
        const names = new Set<string>();
        for (const pane of store.layout.panes)
            if (pane.x === "time") for (const name of pane.curves) if (variables.index.has(name)) names.add(name);
        return [...names].slice(0, 256);
    }

    private isEnough(held: Held | undefined, key: string): boolean {
        if (!held || held.key !== key) return false;
        const { from, to } = store.window;
        const all = store.range();
        if (held.from > Math.max(from, all.from) || held.to < Math.min(to, all.to)) return false;
        return !held.data.reduced || (held.to - held.from) / held.width <= ((to - from) / this.width) * 1.5;
    }

    /** Curves first; what is drawn around them comes after. */
    async refresh(): Promise<void> {
        const problems = new Map<string, string>(); // run and reason; a run is named once
        const note = (run: api.RunInfo) => (error: unknown) => {
            const isOurs = error instanceof DOMException && error.name === "AbortError"; // a newer request took its place
            if (!isOurs) problems.set(run.name, error instanceof Error ? error.message : String(error));
            return false;
        };
        await Promise.all(store.shown.map((run) => this.refreshRun(run).catch(note(run))));
        this.tell(problems);
        this.emit();
        const more = await Promise.all(store.shown.map((run) => this.refreshMore(run).catch(note(run))));
        if (this.tell(problems) || more.some(Boolean)) this.emit();
    }

    /** True: it is another problem than before, or none any more. */
    private tell(problems: Map<string, string>): boolean {
        const before = this.problem;
        const list = [...problems].map(([run, why]) => `${run}: ${why}`);
        this.problem = list.length ? `Curves cannot be shown. ${list.join("; ")}` : null;
        return this.problem !== before;
    }

    private stateOf(run: api.RunInfo): string {
        return `${run.rows}/${run.live}/${run.state}/${run.to}`;
    }

    /** True: something has changed. */
    private async refreshMore(run: api.RunInfo): Promise<boolean> {
        const variables = await store.ensureVariables(run.id);
        const points = await this.refreshPoints(run, variables, this.stateOf(run));
        return (await this.refreshEvents(run, this.stateOf(run))) || points;
    }

    private async refreshRun(run: api.RunInfo): Promise<void> {
        const variables = await store.ensureVariables(run.id);
        const names = this.wanted(variables);
        const key = `${names.join("\n")}\n${this.stateOf(run)}`;
        if (!names.length || this.isEnough(this.held.get(run.id), key)) return;
        this.busy.get(run.id)?.abort();
        const abort = new AbortController();
        this.busy.set(run.id, abort);
        const { from, to } = store.window;
        const span = to - from;
        const window = { from: from - MARGIN * span, to: to + MARGIN * span };
        const all = store.range();
        const share = (Math.min(window.to, all.to) - Math.max(window.from, all.from)) / span;
        const width = Math.min(8192, Math.ceil(this.width * Math.max(1, share)));
        this.requests++;
        const columns = names.map((name) => variables.index.get(name)!);
        const data = await api.data(run.id, columns, window, width, abort.signal);
        this.held.set(run.id, {
            key,
            from: Math.max(window.from, data.from),
            to: Math.min(window.to, data.to),
            width,
            data,
            names: new Map(names.map((name, k) => [name, k])),
        });
    }

    /** Curves over a variable need whole points: those of the window, thinned out evenly. */
    private async refreshPoints(run: api.RunInfo, variables: api.Variables, state: string): Promise<boolean> {
        let hasChanged = false;
        for (const [at, pane] of store.layout.panes.entries()) {
            const x = variables.index.get(pane.x);
            if (pane.x === "time" || x === undefined) continue;
            const names = pane.curves.filter((name) => variables.index.has(name));
            const { from, to } = store.window;
            const key = `${pane.x}\n${names.join("\n")}\n${state}/${from}/${to}`;
            const id = `${run.id}/${at}`;
            if (this.points.get(id)?.key === key) continue;
            const columns = [x, ...names.map((name) => variables.index.get(name)!)];
            const response = await fetch(
                `api/data?run=${run.id}&vars=${columns.join(",")}&from=${from}&to=${to}&width=4000&points=1`,
            );
            if (!response.ok) throw new Error(`points of '${pane.x}': ${response.statusText}`);
            const all = new Float64Array(await response.arrayBuffer());
            const n = all[0];
            const column = (k: number) => all.subarray(4 + k * n, 4 + (k + 1) * n);
            const data = {
                n,
                reduced: false,
                from,
                to,
                times: column(0),
                columns: columns.map((_, k) => column(k + 1)),
            };
            this.points.set(id, { key, data });
            hasChanged = true;
        }
        return hasChanged;
    }

    private async refreshEvents(run: api.RunInfo, state: string): Promise<boolean> {
        if (!store.layout.panes.some((p) => p.events && p.x === "time")) return false;
        const { from, to } = store.window;
        const span = to - from;
        const known = this.events.get(run.id);
        const isNear = known && known.from <= from && known.to >= to && known.to - known.from <= 6 * span;
        if (isNear && known.state === state) return false;
        const wide = { from: from - MARGIN * span, to: to + MARGIN * span };
        const answer = await api.json<{ times: number[]; all: boolean }>(
            `api/events?run=${run.id}&from=${wide.from}&to=${wide.to}`,
        );
        const times = answer.all && answer.times.length <= EVENTS_MOST ? answer.times : [];
        this.events.set(run.id, { ...wide, state, times });
        return true;
    }

    curve(run: number, name: string): Curve | null {
        const held = this.held.get(run);
        const k = held?.names.get(name);
        return held && k !== undefined ? { times: held.data.times, values: held.data.columns[k] } : null;
    }

    /** x and y of a pane over a variable. */
    phase(run: number, pane: number, curve: number): { x: Float64Array; y: Float64Array } | null {
        const data = this.points.get(`${run}/${pane}`)?.data;
        return data && data.columns[curve + 1] ? { x: data.columns[0], y: data.columns[curve + 1] } : null;
    }

    eventTimes(run: number): number[] {
        return this.events.get(run)?.times ?? [];
    }
}

export const feeder = new Feeder();
