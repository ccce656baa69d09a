// node bench.mjs KOINE RESULT: figures of the viewer with a large result, as one JSON object.
//   open_seconds          from the start of the program to its first answer about the result
//   first_curve_seconds   from choosing a variable to its curve on the canvas, the worst of five
//   pan_frames            frames a second while a curve is panned
//   server_megabytes      largest memory of the server after all that
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { startBrowser, startViewer } from "./harness.mjs";

const begun = performance.now();
const viewer = startViewer(resolve(process.argv[2]), [resolve(process.argv[3])], ".");
const address = await viewer.address;
const state = await (await fetch(`${address}api/state`)).json();
const openSeconds = (performance.now() - begun) / 1000;

const browser = await startBrowser();
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
await page.goto(address);
await page.waitForSelector(".pane canvas", { timeout: 30000 });

const { names, discrete } = await (await fetch(`${address}api/variables?run=0`)).json();
const moving = names.filter((_, k) => k > 0 && discrete[k] === "0");
let firstCurve = 0;
for (let k = 0; k < 5; k++) {
    const name = moving[Math.floor(((k + 0.5) / 5) * moving.length)];
    await page.fill("#search", name);
    await page.waitForFunction((n) => document.querySelector(".row .name")?.textContent === n, name);
    const seconds = await page.evaluate(async (n) => {
        const start = performance.now();
        document.querySelector(".row").click();
        const isDrawn = () => document.querySelector(".plot").getAttribute("aria-label").includes(`${n} from`);
        while (!isDrawn()) await new Promise((next) => requestAnimationFrame(next));
        await new Promise((next) => requestAnimationFrame(next));
        return (performance.now() - start) / 1000;
    }, name);
    firstCurve = Math.max(firstCurve, seconds);
    await page.evaluate(() => document.querySelector(".chip .icon").click());
}

// Two seconds of panning in the middle fifth of the run; each frame moves the window and draws all curves.
await page.evaluate(
    ({ from, to, curves }) => {
        const span = (to - from) / 5;
        const layout = {
            "koine-layout": 1,
            panes: [{ curves }],
            window: { from: from + 2 * span, to: from + 3 * span },
        };
        location.hash = encodeURIComponent(JSON.stringify(layout));
    },
    { ...state.runs[0], curves: moving.slice(0, 3) },
);
await page.reload();
await page.waitForSelector(".pane canvas", { timeout: 30000 });
await page.waitForTimeout(500);
const frames = await page.evaluate(async () => {
    const over = document.querySelector(".u-over");
    const start = performance.now();
    let n = 0;
    while (performance.now() - start < 2000) {
        const deltaX = n % 60 < 30 ? 12 : -12;
        over.dispatchEvent(new WheelEvent("wheel", { deltaX, deltaY: 0, cancelable: true, bubbles: true }));
        await new Promise((next) => requestAnimationFrame(next));
        n++;
    }
    return (1000 * n) / (performance.now() - start);
});
const status = readFileSync(`/proc/${viewer.child.pid}/status`, "utf8");
const megabytes = Number(/VmHWM:\s+(\d+)/.exec(status)[1]) / 1024;
await browser.close();
await viewer.stop();
console.log(
    JSON.stringify({
        open_seconds: openSeconds,
        first_curve_seconds: firstCurve,
        pan_frames: frames,
        server_megabytes: megabytes,
        rows: state.runs[0].rows,
        variables: state.runs[0].variables,
    }),
);
