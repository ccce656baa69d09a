// Curves of a report: the data stand in the document; without this script the pictures do.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./report.css";
import { css, number } from "./dom.ts";
import { aligned, mergeTimes } from "./series.ts";

interface Plot {
    curves: { name: string; unit: string; discrete: boolean; times: number[]; values: (number | null)[] }[];
}

const HEIGHT = 320;

/** Curves of one run share their times; those of several are brought together. */
function align(plot: Plot): uPlot.AlignedData {
    const sources = plot.curves.map((c) => Float64Array.from(c.times));
    const merged = mergeTimes(sources);
    const values = plot.curves.map((c, k) =>
        aligned(
            Float64Array.from(c.values, (v) => v ?? NaN),
            merged.at[k],
        ),
    );
    return [merged.times, ...values] as uPlot.AlignedData;
}

function draw(box: HTMLElement, plot: Plot): void {
    const units = new Set(plot.curves.map((c) => c.unit));
    const axis = {
        stroke: css("--ink-soft"),
        grid: { stroke: css("--grid"), width: 1 },
        ticks: { stroke: css("--grid"), width: 1, size: 4 },
        font: "11px system-ui, sans-serif",
        values: (_: uPlot, splits: number[]) => splits.map((s) => number(s)),
    };
    const picture = box.querySelector("img");
    const made = new uPlot(
        {
            width: box.clientWidth,
            height: HEIGHT,
            scales: { x: { time: false } },
            cursor: { sync: { key: "report" } },
            axes: [
                axis,
                { ...axis, size: 68, label: units.size === 1 ? [...units][0] || undefined : undefined, labelSize: 18 },
            ],
            series: [
                { label: "time", value: (_: uPlot, v: number | null) => number(v) },
                ...plot.curves.map((c, k) => ({
                    label: c.unit ? `${c.name} [${c.unit}]` : c.name,
                    stroke: css(`--curve-${k % 8}`),
                    width: 1.6,
                    pxAlign: 0,
                    points: { show: false },
                    value: (_: uPlot, v: number | null) => number(v),
                    ...(c.discrete ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
                })),
            ],
        },
        align(plot),
        box,
    );
    made.root.setAttribute("role", "figure");
    made.root.setAttribute("aria-label", picture?.alt ?? "");
    picture?.remove();
    addEventListener("resize", () => made.setSize({ width: box.clientWidth, height: HEIGHT }));
}

const data = document.getElementById("data");
const plots: Plot[] = JSON.parse(data?.textContent ?? "[]");
document.querySelectorAll<HTMLElement>(".report-plot").forEach((box, k) => {
    if (plots[k]?.curves.length) draw(box, plots[k]);
});
