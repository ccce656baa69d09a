// Layouts come from addresses and files of others: only what has the right form is taken.
import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyPane, PANES_MOST, readLayout, writeLayout } from "../../src/state.ts";

const layout = (more: object) => readLayout({ "koine-layout": 1, panes: [], ...more });

test("what is no layout is refused", () => {
    for (const wrong of [null, 7, "x", {}, { "koine-layout": 2, panes: [] }, { "koine-layout": 1, panes: 3 }])
        assert.equal(readLayout(wrong), null);
});

test("a layout without panes has an empty one", () => {
    assert.deepEqual(layout({})?.panes, [emptyPane()]);
});

test("hidden runs keep their key in addresses and files: runs", () => {
    assert.deepEqual(layout({ runs: [1, 2.5, "3", 4] })?.hidden, [1, 4]);
});

test("panes and windows are bounded", () => {
    assert.equal(layout({ panes: Array(99).fill({}) })?.panes.length, PANES_MOST);
    assert.equal(layout({ window: { from: 2, to: 1 } })?.window, null);
    assert.deepEqual(layout({ window: { from: 1, to: 2, more: 3 } })?.window, { from: 1, to: 2 });
});

test("what is written is read again", () => {
    const before = layout({
        view: "run",
        panes: [{ curves: ["h"] }],
        runs: [3],
        window: { from: 0, to: 1 },
        units: { h: "mm" },
    })!;
    assert.deepEqual(readLayout(JSON.parse(writeLayout(before))), before);
    assert.deepEqual(JSON.parse(writeLayout(before)).runs, [3]);
});
