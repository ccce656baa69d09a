// A pane as a picture of its own, for documents.
import { number } from "./dom.ts";
import type { Drawn } from "./pane.ts";

const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");

/** At most `most` round numbers inside. */
export function ticks(low: number, high: number, most: number): number[] {
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough) ?? 10 * power;
    const out: number[] = [];
    for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) out.push(k * step);
    return out;
}

function range(drawn: Drawn[], from: number, to: number): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    for (const d of drawn)
        for (let k = 0; k < d.values.length; k++) {
            if (d.times[k] < from || d.times[k] > to || Number.isNaN(d.values[k])) continue;
            low = Math.min(low, d.values[k]);
            high = Math.max(high, d.values[k]);
        }
    if (!(low <= high)) return [0, 1];
    const margin = (high - low || Math.abs(high) || 1) * 0.05;
    return [low - margin, high + margin];
}

export function svg(drawn: Drawn[], window: { from: number; to: number }, width = 900, height = 360): string {
    const box = { left: 64, top: 16 + 16 * Math.ceil(drawn.length / 4), right: width - 16, bottom: height - 36 };
    const [low, high] = range(drawn, window.from, window.to);
    const x = (t: number) => box.left + ((t - window.from) / (window.to - window.from)) * (box.right - box.left);
    const y = (v: number) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top);
    const out: string[] = [];
    for (const t of ticks(window.from, window.to, 8))
        out.push(
            `<path class="grid" d="M${x(t).toFixed(1)} ${box.top}V${box.bottom}"/>` +
                `<text x="${x(t).toFixed(1)}" y="${box.bottom + 16}" text-anchor="middle">${number(t)}</text>`,
        );
    for (const v of ticks(low, high, 6))
        out.push(
            `<path class="grid" d="M${box.left} ${y(v).toFixed(1)}H${box.right}"/>` +
                `<text x="${box.left - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${number(v)}</text>`,
        );
    out.push(`<text x="${(box.left + box.right) / 2}" y="${height - 4}" text-anchor="middle">time</text>`);
    drawn.forEach((d, k) => {
        const points: string[] = [];
        let isDown = false;
        let before = 0;
        for (let i = 0; i < d.values.length; i++) {
            const isOut = d.times[i] < window.from || d.times[i] > window.to;
            if (Number.isNaN(d.values[i]) || isOut) {
                isDown = false;
                continue;
            }
            const px = x(d.times[i]).toFixed(2);
            if (d.discrete && isDown) points.push(`L${px} ${before.toFixed(2)}`);
            before = y(d.values[i]);
            points.push(`${isDown ? "L" : "M"}${px} ${before.toFixed(2)}`);
            isDown = true;
        }
        const dash = d.dash ? ` stroke-dasharray="${d.dash.join(" ")}"` : "";
        out.push(`<path class="line" stroke="${d.colour}"${dash} d="${points.join("")}"/>`);
        const left = box.left + (k % 4) * ((box.right - box.left) / 4);
        const top = 16 + 16 * Math.floor(k / 4);
        out.push(
            `<path class="line" stroke="${d.colour}"${dash} d="M${left} ${top - 4}h18"/>` +
                `<text x="${left + 24}" y="${top}">${escaped(d.label)}${d.unit ? ` [${escaped(d.unit)}]` : ""}</text>`,
        );
    });
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
        "<style>text{font:12px system-ui,sans-serif;fill:#333}.grid{stroke:#e3e3e3;fill:none}" +
        ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}</style>" +
        `<rect width="100%" height="100%" fill="#fff"/>${out.join("\n")}</svg>\n`
    );
}
