// Curves of several runs at common times, and their differences: both sides of an event stay two points.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aligned, difference, mergeTimes, valueAt } from "../../src/series.ts";

const curve = (times: number[], values: number[]) => ({
    times: Float64Array.from(times),
    values: Float64Array.from(values),
});

test("times of two runs are merged in order, an event as often as it is there", () => {
    const { times, at } = mergeTimes([Float64Array.from([0, 1, 1, 3]), Float64Array.from([0, 2, 3])]);
    assert.deepEqual(times, [0, 1, 1, 2, 3]);
    assert.deepEqual([...at[0]], [0, 1, 2, -1, 3]);
    assert.deepEqual([...at[1]], [0, -1, -1, 1, 2]);
});

test("no runs, no times", () => {
    assert.deepEqual(mergeTimes([]).times, []);
});

test("between two points a continuous curve is a line, a discrete one is held", () => {
    const source = curve([0, 2, 4], [0, 4, 8]);
    assert.equal(valueAt(source, 1, false), 2);
    assert.equal(valueAt(source, 1, true), 0);
    assert.equal(valueAt(source, 4, false), 8);
});

test("outside of its times a curve has no value", () => {
    const source = curve([1, 2], [5, 6]);
    assert.ok(Number.isNaN(valueAt(source, 0.5, false)));
    assert.ok(Number.isNaN(valueAt(source, 2.5, false)));
});

test("at a jump the difference takes left with left and right with right", () => {
    const of = curve([0, 1, 1, 2], [0, 1, 11, 12]);
    const base = curve([0, 1, 1, 2], [0, 1, 1, 2]);
    assert.deepEqual([...difference(of, base, false).values], [0, 0, 10, 10]);
});

test("a base without a point at the jump has one value on both sides", () => {
    const of = curve([1, 1], [3, 5]);
    const base = curve([0, 2], [0, 4]);
    assert.deepEqual([...difference(of, base, false).values], [1, 3]);
});

test("a value that is no number is a gap, a time of another curve is left out", () => {
    assert.deepEqual(aligned(Float64Array.from([1, NaN]), null), [1, null]);
    assert.deepEqual(aligned(Float64Array.from([1, NaN]), Int32Array.from([0, -1, 1])), [1, undefined, null]);
});
