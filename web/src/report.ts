// Curves of a report: the data stand in the document; without this script the pictures do.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./report.css";
import { css, number } from "./dom.ts";

interface Plot {
    times: number[];
    curves: { name: string; unit: string; discrete: boolean; values: (number | null)[] }[];
}

function draw(box: HTMLElement, plot: Plot): void {
    const picture = box.querySelector("svg");
    const width = () => box.clientWidth;
    const units = new Set(plot.curves.map((c) => c.unit));
    const axis = {
        stroke: css("--ink-soft"),
        grid: { stroke: css("--grid"), width: 1 },
        ticks: { stroke: css("--grid"), width: 1, size: 4 },
        values: (_: uPlot, splits: number[]) => splits.map((s) => number(s)),
    };
    const made = new uPlot(
        {
            width: width(),
            height: 300,
            scales: { x: { time: false } },
            cursor: { sync: { key: "report" } },
            axes: [axis, { ...axis, size: 64, label: units.size === 1 ? [...units][0] || undefined : undefined, labelSize: 18 }],
            series: [
                { label: "time", value: (_, v) => number(v) },
                ...plot.curves.map((c, k) => ({
                    label: c.name,
                    stroke: css(`--curve-${k % 8}`),
                    width: 1.6,
                    points: { show: false },
                    value: (_: uPlot, v: number | null) => number(v),
                    ...(c.discrete ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
                })),
            ],
        },
        [plot.times, ...plot.curves.map((c) => c.values)] as uPlot.AlignedData,
        box,
    );
    picture?.remove();
    addEventListener("resize", () => made.setSize({ width: width(), height: 300 }));
}

const data = document.getElementById("data");
if (data) {
    const plots: Plot[] = JSON.parse(data.textContent ?? "[]");
    document.querySelectorAll<HTMLElement>(".report-plot").forEach((box, k) => {
        if (plots[k]) draw(box, plots[k]);
    });
}
