// One pane: curves over time or over a variable, drawn by uPlot.
import uPlot from "uplot";
import { css, h, number, replace } from "./dom.ts";
import { feeder } from "./feeder.ts";
import { aligned, difference, mergeTimes, type Source } from "./series.ts";
import { type PaneLayout, store } from "./state.ts";
import { shown } from "./units.ts";

export interface Drawn extends Source {
    label: string;
    name: string;
    run: number;
    colour: string;
    dash: number[] | undefined;
    discrete: boolean;
    unit: string;
}

const DASHES: (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [9, 3, 2, 3], [12, 6]];
const COLOURS = 8;
const HEIGHT_LEAST = 150;
export const LINKED = "koine";

export function colourOf(index: number): string {
    return css(`--curve-${index % COLOURS}`);
}

/** The colour belongs to the curve, the dashes to the run. */
export function drawnOf(pane: PaneLayout): Drawn[] {
    const runs = store.shown;
    const out: Drawn[] = [];
    pane.curves.forEach((name, k) => {
        const { unit, discrete } = store.describe(name);
        const to = shown(unit, store.layout.units[name]);
        const base = runs.length ? feeder.curve(runs[0].id, name) : null;
        runs.forEach((run, r) => {
            let source: Source | null = feeder.curve(run.id, name);
            if (!source || (pane.difference && (r === 0 || !base))) return;
            if (pane.difference && base) source = difference(source, base, discrete);
            const offset = pane.difference ? 0 : to.offset;
            const values =
                to.factor === 1 && offset === 0 ? source.values : source.values.map((v) => v * to.factor + offset);
            const suffix = pane.difference
                ? ` (${run.name} − ${runs[0].name})`
                : runs.length > 1
                  ? ` (${run.name})`
                  : "";
            out.push({
                times: source.times,
                values,
                label: name + suffix,
                name,
                run: run.id,
                colour: colourOf(k),
                dash: DASHES[r % DASHES.length],
                discrete,
                unit: to.unit,
            });
        });
    });
    return out;
}

function unitOf(drawn: Drawn[]): string {
    const units = new Set(drawn.map((d) => d.unit));
    return units.size === 1 ? [...units][0] : "";
}

function axes(unit: string, xLabel: string): uPlot.Axis[] {
    const common = {
        stroke: css("--ink-soft"),
        grid: { stroke: css("--grid"), width: 1 },
        ticks: { stroke: css("--grid"), width: 1, size: 4 },
        font: "11px system-ui, sans-serif",
        labelFont: "11px system-ui, sans-serif",
        labelSize: 18,
        values: (_: uPlot, splits: number[]) => splits.map((s) => (s == null ? "" : number(s))),
    };
    return [
        { ...common, label: xLabel, size: 28 },
        {
            ...common,
            label: unit || undefined,
            size: (_: uPlot, values: string[] | null) =>
                18 + Math.max(36, ...(values ?? []).map((text) => 6.6 * text.length)),
        },
    ];
}

export class Pane {
    readonly plotBox = h("div", { class: "plot", tabindex: 0, role: "figure" });
    private plot: uPlot | null = null;
    private signature = "";
    private moving = false; // we set the scale ourselves

    constructor(
        readonly index: number,
        private readonly layout: PaneLayout,
        private readonly onCursor: (time: number | null) => void,
    ) {
        this.plotBox.addEventListener("keydown", (event) => this.onKey(event));
    }

    destroy(): void {
        this.plot?.destroy();
        this.plot = null;
    }

    private size(): { width: number; height: number } {
        return {
            width: Math.max(200, this.plotBox.clientWidth),
            height: Math.max(HEIGHT_LEAST, this.plotBox.clientHeight),
        };
    }

    resize(): void {
        if (this.plot) this.plot.setSize(this.size());
    }

    /** Draws what is there now; a new plot only where the curves are others. */
    draw(): void {
        if (this.layout.x !== "time") {
            this.drawPhase();
            return;
        }
        const drawn = drawnOf(this.layout);
        this.plotBox.setAttribute("aria-label", this.describe(drawn));
        if (!drawn.length) {
            this.destroy();
            this.signature = "";
            const text = this.layout.curves.length ? "" : "Choose variables on the left, or search with /";
            if (this.plotBox.textContent !== text) replace(this.plotBox, h("p", { class: "hint" }, text));
            return;
        }
        const sources = [...new Set(drawn.map((d) => d.times))];
        const merged = sources.length > 1 ? mergeTimes(sources) : null;
        const data = [
            merged ? merged.times : drawn[0].times,
            ...drawn.map((d) => aligned(d.values, merged ? merged.at[sources.indexOf(d.times)] : null)),
        ] as uPlot.AlignedData;
        const signature = JSON.stringify([drawn.map((d) => [d.label, d.colour, d.dash, d.discrete]), unitOf(drawn)]);
        this.moving = true;
        if (this.plot && signature === this.signature) {
            this.plot.setData(data, false);
            this.applyWindow();
        } else {
            this.destroy();
            this.signature = signature;
            replace(this.plotBox);
            this.plot = new uPlot(this.options(drawn), data, this.plotBox);
            this.applyWindow();
            this.watchPointer();
        }
        this.moving = false;
    }

    private describe(drawn: Drawn[]): string {
        if (!drawn.length) return "Empty plot";
        const { from, to } = store.window;
        const ranges = drawn.slice(0, 8).map((d) => {
            let low = Infinity;
            let high = -Infinity;
            for (let k = 0; k < d.values.length; k++) {
                if (d.times[k] < from || d.times[k] > to) continue;
                if (d.values[k] < low) low = d.values[k];
                if (d.values[k] > high) high = d.values[k];
            }
            return `${d.label} from ${number(low)} to ${number(high)} ${d.unit}`;
        });
        return `Plot over time from ${number(from)} to ${number(to)}: ${ranges.join("; ")}`;
    }

    private options(drawn: Drawn[]): uPlot.Options {
        const stepped = uPlot.paths.stepped!({ align: 1 });
        return {
            ...this.size(),
            legend: { show: false },
            scales: { x: { time: false } },
            axes: axes(unitOf(drawn), "time"),
            cursor: {
                sync: { key: LINKED, setSeries: false },
                drag: { x: true, y: false, setScale: false },
                points: { size: 7 },
            },
            series: [
                {},
                ...drawn.map(
                    (d): uPlot.Series => ({
                        label: d.label,
                        stroke: d.colour,
                        width: 1.6,
                        pxAlign: 0,
                        dash: d.dash,
                        points: { show: false },
                        ...(d.discrete ? { paths: stepped } : {}),
                    }),
                ),
            ],
            hooks: {
                setSelect: [(u) => this.onSelect(u)],
                setCursor: [
                    (u) =>
                        this.onCursor(
                            u.cursor.left != null && u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null,
                        ),
                ],
                drawAxes: [(u) => this.drawEvents(u)],
            },
        };
    }

    private drawEvents(u: uPlot): void {
        const run = store.shown[0];
        if (!this.layout.events || !run) return;
        const { ctx, bbox } = u;
        ctx.save();
        ctx.strokeStyle = css("--event");
        ctx.lineWidth = 1;
        ctx.setLineDash([2, 3]);
        ctx.beginPath();
        for (const time of feeder.eventTimes(run.id)) {
            const x = Math.round(u.valToPos(time, "x", true)) + 0.5;
            if (x < bbox.left || x > bbox.left + bbox.width) continue;
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
        }
        ctx.stroke();
        ctx.restore();
    }

    applyWindow(): void {
        if (!this.plot || this.layout.x !== "time") return;
        const { from, to } = store.window;
        this.plot.setScale("x", { min: from, max: to });
    }

    // ---- over a variable ----
    private drawPhase(): void {
        const runs = store.shown;
        const data: [Float64Array, Float64Array][] = [];
        const look: { colour: string; dash: number[] | undefined }[] = [];
        this.layout.curves.forEach((_, k) =>
            runs.forEach((run, r) => {
                const points = feeder.phase(run.id, this.index, k);
                if (!points) return;
                data.push([points.x, points.y]);
                look.push({ colour: colourOf(k), dash: DASHES[r % DASHES.length] });
            }),
        );
        const text = `${this.layout.curves.join(", ")} over ${this.layout.x}`;
        this.plotBox.setAttribute("aria-label", `Plot of ${text}`);
        this.destroy();
        this.signature = "";
        replace(
            this.plotBox,
            data.length ? null : h("p", { class: "hint" }, `Choose variables to plot over ${this.layout.x}`),
        );
        if (!data.length) return;
        const range = (side: 0 | 1) => (): [number, number] => {
            let low = Infinity;
            let high = -Infinity;
            for (const d of data)
                for (const v of d[side]) {
                    if (v < low) low = v;
                    if (v > high) high = v;
                }
            const margin = (high - low || 1) * 0.05;
            return [low - margin, high + margin];
        };
        this.plot = new uPlot(
            {
                ...this.size(),
                mode: 2,
                legend: { show: false },
                cursor: { drag: { x: false, y: false } },
                scales: { x: { time: false, range: range(0) }, y: { range: range(1) } },
                axes: axes("", this.layout.x),
                series: [
                    null as unknown as uPlot.Series,
                    ...look.map((l) => ({ stroke: l.colour, paths: (u: uPlot, at: number) => path(u, at, l) })),
                ] as uPlot.Series[],
            },
            [null, ...data] as unknown as uPlot.AlignedData,
            this.plotBox,
        );
    }

    // ---- hands ----
    private onSelect(u: uPlot): void {
        if (this.moving || u.select.width < 3) return;
        const from = u.posToVal(u.select.left, "x");
        const to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        store.setWindow({ from, to });
    }

    zoom(factor: number, at?: number): void {
        const { from, to } = store.window;
        const centre = at ?? (from + to) / 2;
        store.setWindow({ from: centre - (centre - from) * factor, to: centre + (to - centre) * factor });
    }

    pan(share: number): void {
        const all = store.range();
        const { from, to } = store.window;
        let move = (to - from) * share;
        move = Math.max(all.from - from, Math.min(all.to - to, move));
        if (store.layout.window) store.setWindow({ from: from + move, to: to + move });
    }

    private onKey(event: KeyboardEvent): void {
        const actions: Record<string, () => void> = {
            ArrowLeft: () => this.pan(-0.1),
            ArrowRight: () => this.pan(0.1),
            "+": () => this.zoom(0.5),
            "=": () => this.zoom(0.5),
            "-": () => this.zoom(2),
            "0": () => store.setWindow(null),
        };
        const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    }

    /** The wheel zooms, a drag with shift or the middle button pans, two fingers do both. */
    private watchPointer(): void {
        const over = this.plot!.over;
        over.addEventListener(
            "wheel",
            (event) => {
                event.preventDefault();
                if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / over.clientWidth);
                else this.zoom(1.0015 ** event.deltaY, this.plot!.posToVal(event.offsetX, "x"));
            },
            { passive: false },
        );
        over.addEventListener("dblclick", () => store.setWindow(null));
        over.addEventListener(
            "mousedown",
            (event) => {
                if (event.button !== 1 && !event.shiftKey) return;
                event.preventDefault();
                event.stopImmediatePropagation();
                let last = event.clientX;
                const move = (e: MouseEvent) => {
                    this.pan((last - e.clientX) / over.clientWidth);
                    last = e.clientX;
                };
                const up = () => {
                    removeEventListener("mousemove", move);
                    removeEventListener("mouseup", up);
                };
                addEventListener("mousemove", move);
                addEventListener("mouseup", up);
            },
            { capture: true },
        );
        this.watchTouch(over);
    }

    private watchTouch(over: HTMLElement): void {
        let before: { centre: number; span: number } | null = null;
        const look = (touches: TouchList) => {
            const xs = [...touches].map((t) => t.clientX - over.getBoundingClientRect().left);
            const centre = xs.reduce((a, b) => a + b, 0) / xs.length;
            return { centre, span: xs.length > 1 ? Math.abs(xs[0] - xs[1]) : 0 };
        };
        over.addEventListener("touchstart", (e) => (before = look(e.touches)), { passive: true });
        over.addEventListener("touchend", (e) => (before = e.touches.length ? look(e.touches) : null), {
            passive: true,
        });
        over.addEventListener(
            "touchmove",
            (event) => {
                if (!before || (event.touches.length === 1 && !store.layout.window)) return;
                event.preventDefault();
                const now = look(event.touches);
                this.pan((before.centre - now.centre) / over.clientWidth);
                if (now.span > 10 && before.span > 10)
                    this.zoom(before.span / now.span, this.plot!.posToVal(now.centre, "x"));
                before = now;
            },
            { passive: false },
        );
    }
}

function path(u: uPlot, at: number, look: { colour: string; dash: number[] | undefined }): null {
    const [xs, ys] = (u.data as unknown as [Float64Array, Float64Array][])[at];
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = look.colour;
    ctx.lineWidth = 1.6 * devicePixelRatio;
    ctx.setLineDash((look.dash ?? []).map((d) => d * devicePixelRatio));
    ctx.beginPath();
    let isDown = false;
    for (let k = 0; k < xs.length; k++) {
        if (Number.isNaN(xs[k]) || Number.isNaN(ys[k])) {
            isDown = false;
            continue;
        }
        const x = u.valToPos(xs[k], "x", true);
        const y = u.valToPos(ys[k], "y", true);
        if (isDown) ctx.lineTo(x, y);
        else ctx.moveTo(x, y);
        isDown = true;
    }
    ctx.stroke();
    ctx.restore();
    return null;
}
