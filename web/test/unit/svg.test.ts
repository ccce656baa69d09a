// A pane as a picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { svg, ticks } from "../../src/svg.ts";

const drawn = (times: number[], values: number[], more = {}) =>
    ({
        times: Float64Array.from(times),
        values: Float64Array.from(values),
        colour: "#123456",
        label: "h",
        unit: "m",
        discrete: false,
        ...more,
    }) as unknown as Parameters<typeof svg>[0][number];

const path = (picture: string) => picture.match(/class="line" stroke="#123456" d="(M[^"h]*)"/)?.[1] ?? "";

test("ticks are round, lie inside, and are not too many", () => {
    assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
    for (const [low, high] of [
        [-1.3, 7.9],
        [1e-7, 3e-7],
        [1e9, 1e9 + 5],
    ]) {
        const found = ticks(low, high, 8);
        assert.ok(found.length >= 2 && found.length <= 9, `${found}`);
        assert.ok(
            found.every((t) => t >= low - 1e-9 * (high - low) && t <= high + 1e-6 * (high - low)),
            `${found}`,
        );
    }
});

test("a curve goes through its points, from the left border to the right one", () => {
    const points = path(svg([drawn([0, 1, 2], [0, 1, 0])], { from: 0, to: 2 }));
    assert.match(points, /^M64\.00 [\d.]+L474\.00 [\d.]+L884\.00 [\d.]+$/);
});

test("a discrete curve is held until it jumps", () => {
    const points = path(svg([drawn([0, 1], [0, 1], { discrete: true })], { from: 0, to: 1 }));
    const [first, corner, last] = points.split("L").map((p) => p.replace("M", "").split(" "));
    assert.equal(corner[1], first[1]);
    assert.equal(corner[0], last[0]);
});

test("a value that is no number interrupts the line", () => {
    const points = path(svg([drawn([0, 1, 2, 3, 4], [0, 1, NaN, 1, 0])], { from: 0, to: 4 }));
    assert.equal(points.split("M").length - 1, 2);
});

test("names are text, whatever they contain", () => {
    const picture = svg([drawn([0, 1], [0, 1], { label: '<b a="1">&', unit: "<s>" })], { from: 0, to: 1 });
    assert.ok(picture.includes("&lt;b a=&quot;1&quot;>&amp; [&lt;s>]"));
    assert.ok(!picture.includes("<b a"));
});

test("without any value there is a picture all the same", () => {
    assert.match(svg([drawn([], [])], { from: 0, to: 1 }), /<svg [\s\S]*<\/svg>\n$/);
});
