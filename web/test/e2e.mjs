// node e2e.mjs KOINE FOLDER: the page in a real browser, from opening to exporting. FOLDER gets screenshots, also of
// every page that was open when a step failed. KOINE_DELAY=MS holds each answer of the server back by a random time up
// to MS: whatever looks at the page before it is ready fails then.
//
// Nothing is looked at once: what the page shows comes when it comes, so every look is repeated until it is as expected
// (`eventually`), and no step waits for a time.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { startBrowser, startViewer } from "./harness.mjs";

const koine = resolve(process.argv[2]);
const pictures = resolve(process.argv[3]);
const examples = join(import.meta.dirname, "../../examples");
const work = mkdtempSync(join(tmpdir(), "koine-page-"));
mkdirSync(pictures, { recursive: true });
for (const name of ["bouncing-ball/Ball.mdl", "bouncing-ball/Ball.exp.yaml", "lotka-volterra/Volterra.mdl", "heating"])
    cpSync(join(examples, name), join(work, name.split("/").pop()), { recursive: true });
execFileSync(koine, ["run", "Ball.mdl", "--quiet", "--output", "hard.csv"], { cwd: work });
execFileSync(koine, ["run", "Ball.mdl", "--quiet", "--output", "soft.csv", "--set", "D=1"], { cwd: work });

const browser = await startBrowser();
const PATIENCE_MS = 30000;
const delay = Number(process.env.KOINE_DELAY ?? 0);
const errors = []; // what the browser complained about
const failures = [];
const pages = new Set();
let count = 0;

/** Repeats the assertions of f until they hold; what did not hold in the end is the failure. */
async function eventually(f) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
        try {
            return await f();
        } catch (error) {
            if (Date.now() > end) throw error;
        }
        await new Promise((done) => setTimeout(done, 20));
    }
}

async function openPage(address, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    const origin = new URL(address).origin;
    page.setDefaultTimeout(PATIENCE_MS);
    pages.add(page);
    page.on("close", () => pages.delete(page));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(origin) && !/^(blob|data|file):/.test(url)) errors.push(`a request to ${url}`);
    });
    if (delay)
        await page.route(/\/api\//, async (route) => {
            await new Promise((done) => setTimeout(done, delay * Math.random()));
            await route.continue().catch(() => undefined); /* the page may have gone on */
        });
    await page.goto(address);
    return page;
}

/** Pictures and texts of the pages as they are now. */
async function describePages(name) {
    const lines = [];
    for (const [k, page] of [...pages].entries()) {
        const picture = join(pictures, `failed-${name.replace(/[^a-z0-9]+/gi, "-")}-${k + 1}.png`);
        await page
            .screenshot({ path: picture, timeout: 5000 })
            .catch((error) => lines.push(`no picture: ${error.message}`));
        const text = await page.evaluate(() => document.body.innerText).catch((error) => error.message);
        const labels = await page
            .evaluate(() => [...document.querySelectorAll(".plot")].map((e) => e.getAttribute("aria-label")))
            .catch(() => []);
        lines.push(`${picture}: ${decodeURIComponent(page.url())}`, ...labels, text.slice(0, 2000));
    }
    return lines.join("\n").replace(/^/gm, "    | ");
}

async function step(name, f) {
    const begun = Date.now();
    try {
        await f();
    } catch (error) {
        console.log(`not ok ${name} (${Date.now() - begun} ms)`);
        failures.push(`not ok ${name}\n${error.stack}\n${await describePages(name)}`);
        error.isTold = true;
        throw error;
    }
    count++;
    console.log(`ok ${name} (${Date.now() - begun} ms)`);
}

const shot = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
const layoutOf = (page) => page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.slice(1))));
/** Pixels of curves in a pane. */
const inkOf = (page, pane = 0) =>
    page.evaluate((k) => {
        const canvas = document.querySelectorAll(".pane canvas")[k];
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Map();
        for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] < 200) continue;
            const saturation =
                Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
            if (saturation > 60) colours.set("curve", (colours.get("curve") ?? 0) + 1);
        }
        return colours.get("curve") ?? 0;
    }, pane);
const textsOf = (page, selector) => page.locator(selector).allTextContents();
/** What a pane says it shows; curves that are still on their way are not in it. */
const labelOf = (page, pane = 0) =>
    page.evaluate((k) => document.querySelectorAll(".plot")[k].getAttribute("aria-label"), pane);
/** Waits until a pane shows what the pattern says, and has drawn it. */
const drawn = (page, pane, pattern, ink = 1) =>
    eventually(async () => {
        assert.match(await labelOf(page, pane), pattern);
        const pixels = await inkOf(page, pane);
        assert.ok(pixels >= ink, `there is hardly anything drawn: ${pixels} pixels of ${ink}`);
    });
/** The mouse goes to the middle of the first pane, wherever that is by now. */
async function pointAt(page) {
    const box = await page.locator(".u-over").first().boundingBox();
    await page.mouse.move(box.x + box.width / 2 + Math.floor(3 * Math.random()), box.y + 50);
}
/** Head and rows of the table of values, of one moment. */
const tableOf = (page) =>
    page.evaluate(() => ({
        time: document.querySelector("#values thead th").textContent,
        rows: Object.fromEntries(
            [...document.querySelectorAll("#values tbody tr")].map((row) => [
                row.querySelector("th").textContent,
                [...row.querySelectorAll("td")].map((cell) => cell.textContent),
            ]),
        ),
    }));
const sourceShown = (page, pattern) =>
    eventually(async () => {
        assert.equal(await page.locator("#tab-structure").getAttribute("aria-selected"), "true");
        assert.deepEqual(
            (await textsOf(page, ".source .here")).map((text) => pattern.test(text)),
            [true],
        );
    });
const runIsDone = (page) =>
    page.waitForFunction(() => document.getElementById("message").textContent.includes("is done"));
/** Ends a viewer as Ctrl-C does. */
const ended = async (viewer) => assert.equal(await viewer.stop(), 0, "Ctrl-C ends it with status 0");

function readCsv(path) {
    const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n");
    return { names: head.split(","), rows: lines.map((line) => line.split(",").map(Number)) };
}

/** The value that a table shows, as a number. */
const numberOf = (text) => Number(text.replace("−", "-"));

async function testResults() {
    const viewer = startViewer(koine, ["hard.csv", "soft.csv", "Ball.mdl"], work);
    const address = await viewer.address;
    let page;
    await step("open: the page shows runs and variables", async () => {
        page = await openPage(address);
        await drawn(page, 0, /\(hard\).*\(soft\)/);
        await eventually(async () => {
            assert.deepEqual(await textsOf(page, ".run .name"), ["hard", "soft"]);
            assert.equal(await page.locator(".tree .row").count(), 7);
            assert.equal(await page.locator(".tree .row .explain").count(), 7, "the model is not known yet");
            assert.match(await page.title(), /Ball\.mdl/);
        });
    });
    await step("a stranger sees nothing", async () => {
        const answer = await fetch(new URL("/", address));
        assert.equal(answer.status, 403);
    });
    await step("search: a glob finds variables, Enter plots the first", async () => {
        await page.keyboard.press("/");
        await page.keyboard.type("*y");
        await page.waitForFunction(() => document.getElementById("matches").textContent === "3 of 7");
        await eventually(async () => assert.deepEqual(await textsOf(page, ".tree .row .name"), ["Ay", "Vy", "Y"]));
        await page.keyboard.press("Escape");
        const [first] = await textsOf(page, ".chip > span:first-of-type");
        // Enter at once: it takes what is typed, not what was found for the letters before.
        await page.locator("#search").evaluate((input) => {
            input.value = "vy";
            input.dispatchEvent(new InputEvent("input", { bubbles: true }));
            input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        });
        await eventually(async () =>
            assert.deepEqual(await textsOf(page, ".chip > span:first-of-type"), [first, "Vy"]),
        );
        await page.keyboard.press("Escape");
        await eventually(async () => assert.equal(await page.locator(".tree .row").count(), 7));
    });
    await step("plot: curves in panes", async () => {
        await page.getByRole("button", { name: "+ Pane" }).click();
        await page.locator(".row[title='Y']").click();
        await page.waitForSelector(".row.on[title='Y']");
        await page.locator(".row[title='Y_Treppe']").click();
        await drawn(page, 1, /Y \(hard\) from −1\.3.* to 1 .*Y_Treppe \(soft\)/, 800);
        await drawn(page, 0, /Vy \(hard\).*Vy \(soft\)/);
    });
    await step("zoom: dragging in one pane moves all, Fit goes back", async () => {
        const box = await page.locator(".u-over").first().boundingBox();
        await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
        await page.mouse.up();
        const window = await eventually(async () => {
            const { window } = await layoutOf(page);
            assert.ok(
                window && Math.abs(window.from - 1.5) < 0.05 && Math.abs(window.to - 3) < 0.05,
                JSON.stringify(window),
            );
            return window;
        });
        await drawn(page, 1, /^Plot over time from 1\.[45]/);
        await shot(page, "zoom");
        await page.locator(".plot").first().focus();
        await page.keyboard.press("ArrowRight");
        await page.waitForFunction(
            (from) => JSON.parse(decodeURIComponent(location.hash.slice(1))).window.from > from + 0.1,
            window.from,
        );
        await page.locator("#fit").click();
        await page.waitForFunction(() => JSON.parse(decodeURIComponent(location.hash.slice(1))).window === null);
    });
    await step("compare: values at the cursor and the difference of two runs", async () => {
        await drawn(page, 0, /^Plot over time from 0 to 6:/);
        const table = await eventually(async () => {
            await pointAt(page);
            const table = await tableOf(page);
            assert.match(table.time, /^time [23]/);
            assert.ok(
                table.rows.Vy.slice(0, 3).every((cell) => /\d/.test(cell)),
                String(table.rows.Vy),
            );
            return table;
        });
        const time = numberOf(table.time.replace("time ", ""));
        const [hard, soft, difference] = table.rows.Vy.map(numberOf);
        for (const [path, value] of [
            ["hard.csv", hard],
            ["soft.csv", soft],
        ]) {
            const { names, rows } = readCsv(join(work, path));
            const column = names.indexOf("Vy");
            const at = rows.findLastIndex((row) => row[0] <= time);
            const share = (time - rows[at][0]) / (rows[at + 1][0] - rows[at][0]);
            const expected = rows[at][column] + share * (rows[at + 1][column] - rows[at][column]);
            assert.ok(
                Math.abs(value - expected) < 1e-4 * Math.max(1, Math.abs(expected)),
                `${value} is not ${expected}`,
            );
        }
        assert.ok(Math.abs(difference - (soft - hard)) < 1e-4);
        await shot(page, "compare");
        await page.locator(".pane").first().getByLabel("difference").check();
        await drawn(page, 0, /\(soft − hard\)/);
        await page.locator(".pane").first().getByLabel("difference").uncheck();
        await drawn(page, 0, /Vy \(hard\).*Vy \(soft\)/);
    });
    await step("one variable over another", async () => {
        await page.getByRole("button", { name: "Remove pane 1" }).click();
        await page.getByLabel("Horizontal axis of pane 1").selectOption("Y");
        await drawn(page, 0, /over Y$/, 300);
        await page.getByLabel("Horizontal axis of pane 1").selectOption({ label: "other…" });
        await page.locator("#axis-hint").waitFor();
        await page.keyboard.type("Abstand");
        await eventually(async () => assert.deepEqual(await textsOf(page, ".tree .row .name"), ["Abstand"]));
        await page.keyboard.press("Enter");
        await drawn(page, 0, /over Abstand$/);
        await page.locator("#axis-hint").waitFor({ state: "hidden" });
        await page.keyboard.press("Escape");
        await page.getByLabel("Horizontal axis of pane 1").selectOption("time");
        await drawn(page, 0, /^Plot over time/);
    });
    await step("export: CSV and SVG", async () => {
        await page.locator(".run", { hasText: "soft" }).locator("input").uncheck();
        await drawn(page, 0, /: Y from [^;]*; Y_Treppe from [^;]*$/);
        const [csv] = await Promise.all([page.waitForEvent("download"), page.locator("#export-csv").click()]);
        const exported = readCsv(await csv.path());
        const original = readCsv(join(work, "hard.csv"));
        assert.deepEqual(exported.names, ["time", "Y", "Y_Treppe"]);
        assert.equal(exported.rows.length, original.rows.length);
        const y = original.names.indexOf("Y");
        assert.equal(exported.rows[100][1], original.rows[100][y]);
        const [svg] = await Promise.all([page.waitForEvent("download"), page.locator("#export-svg").click()]);
        const text = readFileSync(await svg.path(), "utf8");
        assert.match(text, /^<svg [\s\S]*<path class="line"[\s\S]*Y_Treppe[\s\S]*<\/svg>\n$/);
    });
    await step("layout: in the address, and in a file", async () => {
        const before = await eventually(async () => {
            const layout = await layoutOf(page);
            assert.deepEqual([layout.runs, layout.panes.map((p) => p.x)], [[1], ["time"]]);
            return layout;
        });
        await page.reload();
        await drawn(page, 0, /Y_Treppe/);
        await eventually(async () => assert.deepEqual(await layoutOf(page), before));
        await page.locator(".menu summary").click();
        const [file] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("button", { name: "Save layout…" }).click(),
        ]);
        assert.deepEqual(JSON.parse(readFileSync(await file.path(), "utf8")), before);
        cpSync(await file.path(), join(work, "layout.json"));
        const again = startViewer(koine, ["hard.csv", "--layout", "layout.json"], work);
        const other = await openPage(await again.address);
        await drawn(other, 0, /Y_Treppe/);
        await eventually(async () =>
            assert.deepEqual(await textsOf(other, ".chip > span:first-of-type"), ["Y", "Y_Treppe"]),
        );
        await other.context().close();
        await ended(again);
        await page.locator(".menu summary").click();
    });
    await step("the equation behind a variable", async () => {
        await page.locator(".row[title='Ay']").hover();
        await page.getByRole("button", { name: "What defines Ay?" }).click();
        await page.waitForSelector("#glass-name");
        await eventually(async () => {
            const text = await page.locator(".glass").innerText();
            assert.match(text, /Ball\.mdl:34\s+Ay := \(K1\/M\) \* \(Radius - Abstand\)/);
            assert.match(text, /Ball\.mdl:40\s+Ay := 0;/);
        });
        await shot(page, "equation");
        await page.getByRole("button", { name: "Ball.mdl:34" }).click();
        await sourceShown(page, /Ay := \(K1\/M\)/);
    });
    await step("analysis: blocks and incidence", async () => {
        await page.keyboard.press("3");
        await eventually(async () => assert.ok((await page.locator(".blocks tbody tr").count()) >= 9));
        await page.waitForSelector("canvas.incidence");
    });
    await page.context().close();
    await ended(viewer);
}

/** A fall with units: V(t) = -g t in m/s, shown in km/h. */
const FALL = `BASIC COMPONENT Fall
DECLARATION OF ELEMENTS
  CONSTANTS
    g (REAL [m/s^2]) := 9.81
  STATE VARIABLES
    CONTINUOUS Y (REAL [m]) := 100, V (REAL [m/s]) := 0
DYNAMIC BEHAVIOUR
  DIFFERENTIAL EQUATIONS
    Y' := V;
    V' := -g;
  END
END OF Fall
`;

async function testUnits() {
    writeFileSync(join(work, "Fall.mdl"), FALL);
    execFileSync(koine, ["run", "Fall.mdl", "--quiet", "--stop", "4", "--output", "fall.h5"], { cwd: work });
    const viewer = startViewer(koine, ["fall.h5"], work);
    const layout = { "koine-layout": 1, view: "plots", panes: [{ curves: ["V"] }] };
    const page = await openPage(`${await viewer.address}#${encodeURIComponent(JSON.stringify(layout))}`);
    await step("units: another one for the display; a result finds its model", async () => {
        await page.getByLabel("Unit of V").selectOption("km/h");
        await drawn(page, 0, /V from −141\.264 to 0 km\/h/);
        const table = await eventually(async () => {
            await pointAt(page);
            const table = await tableOf(page);
            assert.match(table.time, /^time [12]/);
            assert.match(table.rows.V[0], /\d/);
            return table;
        });
        const time = numberOf(table.time.replace("time ", ""));
        assert.ok(Math.abs(numberOf(table.rows.V[0]) + 9.81 * time * 3.6) < 1e-3, `${table.rows.V[0]} at ${time}`);
        assert.equal(table.rows.V[1], "km/h");
        await eventually(async () => {
            assert.equal((await layoutOf(page)).units.V, "km/h");
            assert.equal(await page.locator("h1").textContent(), "Fall.mdl");
        });
    });
    await page.context().close();
    await ended(viewer);
}

async function testRuns() {
    const viewer = startViewer(koine, ["Ball.mdl"], work);
    const page = await openPage(await viewer.address);
    await step("run: change a parameter, run, see its curve", async () => {
        await page.getByLabel("D", { exact: true }).fill("0.5");
        await page.locator("#profile").check();
        await page.locator("#run").click();
        await runIsDone(page);
        assert.ok(existsSync(join(work, "Ball-1.h5")));
        assert.match(execFileSync(koine, ["runs", "list", "--json"], { cwd: work, encoding: "utf8" }), /Ball-1\.h5/);
        execFileSync(
            koine,
            ["run", "Ball.mdl", "--quiet", "--output", "same.csv", "--variables", "Y", "--set", "D=0.5"],
            { cwd: work },
        );
        const exported = await page.evaluate(async () => {
            const { names } = await (await fetch("api/variables?run=0")).json();
            return (await fetch(`api/export.csv?run=0&vars=${names.indexOf("Y")}`)).text();
        });
        assert.equal(exported, readFileSync(join(work, "same.csv"), "utf8"));
        await shot(page, "run");
        await page.getByRole("button", { name: "See the curves" }).click();
        await drawn(page, 0, /^Plot over time/);
        const model = join(work, "Ball.mdl");
        const text = readFileSync(model, "utf8");
        writeFileSync(model, `${text}\n`);
        await page.waitForFunction(() =>
            /^the model has changed since this run \(Ball\.mdl\)$/.test(
                document.querySelector(".run .note")?.textContent ?? "",
            ),
        );
        await page.waitForFunction(
            () => document.getElementById("status").textContent === "Ball.mdl has changed since it was opened",
        );
        await shot(page, "changed");
        writeFileSync(model, text);
        await page.waitForFunction(() => document.querySelector(".run .note")?.hidden);
        await page.keyboard.press("3");
        await eventually(async () => assert.match(await page.locator(".profile").innerText(), /Ball\.mdl:34/));
        await shot(page, "analysis");
        await page.locator(".profile").getByRole("button", { name: "Ball.mdl:34" }).first().click();
        await sourceShown(page, /Ay := \(K1\/M\)/);
    });
    await step("errors are shown, with the line they are about", async () => {
        await page.keyboard.press("4");
        await page.getByLabel("D", { exact: true }).fill("x");
        await page.locator("#run").click();
        await page.waitForFunction(() => /failed[\s\S]*KN4043/.test(document.getElementById("message").textContent));
        await page.getByLabel("D", { exact: true }).fill("2.5");
        await page.getByLabel("M", { exact: true }).fill("0");
        await page.locator("#run").click();
        await page.waitForFunction(() => /failed[\s\S]*KN3111/.test(document.getElementById("message").textContent));
        await page.waitForFunction(() => document.getElementById("message").textContent.includes("Ay := (K1/M)"));
        await page.locator("#message").getByRole("button", { name: "Ball.mdl:34" }).click();
        await sourceShown(page, /Ay := \(K1\/M\)/);
    });
    await page.context().close();
    await ended(viewer);
}

/** The page shows what a run would use, and uses what is typed. The loop has w = 0 in its text and w = 1 in its experiment. */
async function testValuesInForce() {
    for (const file of ["ControlLoop.dym", "ControlLoop.exp.yaml"])
        cpSync(join(examples, "control-loop", file), join(work, file));
    const last = (page, run) =>
        page.evaluate(async (run) => {
            const { names } = await (await fetch(`api/variables?run=${run}`)).json();
            const text = await (await fetch(`api/export.csv?run=${run}&vars=${names.indexOf("w")}`)).text();
            return text.trim().split("\n").at(-1);
        }, run);
    for (const target of ["ControlLoop.dym", "ControlLoop.exp.yaml"]) {
        const viewer = startViewer(koine, [target], work);
        const page = await openPage(await viewer.address);
        const run = async () => {
            await page.locator("#run").click();
            await runIsDone(page);
        };
        await step(`${target}: the values shown are those of the experiment`, async () => {
            await eventually(async () => {
                assert.equal(await page.getByLabel("w", { exact: true }).inputValue(), "1");
                assert.match(
                    await page.locator("tr", { has: page.getByLabel("w", { exact: true }) }).innerText(),
                    /of the experiment/,
                );
                const fields = Object.fromEntries(
                    await Promise.all(
                        ["stop", "interval", "tolerance", "solver"].map(async (key) => [
                            key,
                            await page.locator(`#set-${key}`).inputValue(),
                        ]),
                    ),
                );
                assert.deepEqual(
                    { ...fields, tolerance: Number(fields.tolerance), interval: Number(fields.interval) },
                    { stop: "0.4", interval: 1e-3, tolerance: 1e-8, solver: "auto" },
                );
            });
            await run();
            assert.equal(await last(page, 0), "0.4,1");
        });
        await step(`${target}: what is typed is used, also the value of the text`, async () => {
            await page.getByLabel("w", { exact: true }).fill("0");
            await page.locator("#set-stop").fill("0.2");
            await run();
            assert.equal(await last(page, 1), "0.2,0");
        });
        await page.context().close();
        await ended(viewer);
    }
}

/** Runs that are equal differ by 0 everywhere, also where they jump; other jumps are paired side by side. */
async function testDifference() {
    writeFileSync(join(work, "one.csv"), "time,y\n0,0\n1,0.1\n1,0.3\n2,0.3\n2,0.7\n3,0.7\n");
    writeFileSync(join(work, "two.csv"), "time,y\n0,0\n1,0.1\n1,0.3\n2,0.3\n2,0.7\n3,0.7\n");
    writeFileSync(join(work, "three.csv"), "time,y\n0,1\n1,1\n1,2\n2,2\n2,3\n3,3\n");
    const viewer = startViewer(koine, ["one.csv", "two.csv", "three.csv"], work);
    const page = await openPage(await viewer.address);
    await step("layout: a link pasted into an open page is shown", async () => {
        // The page has written its own address, so what it writes from here on comes from the link.
        await eventually(async () => assert.deepEqual((await layoutOf(page)).panes[0].difference, false));
        const layout = { "koine-layout": 1, view: "plots", panes: [{ curves: ["y"], difference: true }] };
        await page.evaluate((hash) => (location.hash = hash), encodeURIComponent(JSON.stringify(layout)));
        await drawn(page, 0, /\(two − one\).*\(three − one\)/);
        await eventually(async () => {
            assert.ok(await page.locator(".pane").first().getByLabel("difference").isChecked());
            // Written by the page: a link has no field of events.
            assert.deepEqual((await layoutOf(page)).panes, [
                { curves: ["y"], x: "time", events: true, difference: true },
            ]);
        });
    });
    await step("difference: equal runs differ by 0, also where they jump", async () => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#export-svg").click()]);
        const lines = [
            ...readFileSync(await download.path(), "utf8").matchAll(/<path class="line"[^>]* d="(M[^"h]*)"/g),
        ].map((m) => [...m[1].matchAll(/[ML](\S+) (\S+?)(?=[ML]|$)/g)].map((point) => Number(point[2])));
        assert.equal(lines.length, 2);
        assert.equal(new Set(lines[0]).size, 1, "equal runs have a difference");
        assert.ok(new Set(lines[1]).size > 2);
    });
    await step("difference: left with left and right with right, exactly", async () => {
        const code = transformSync(readFileSync(join(import.meta.dirname, "../src/series.ts"), "utf8"), {
            loader: "ts",
        }).code;
        const { difference } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
        const curve = (times, values) => ({ times: Float64Array.from(times), values: Float64Array.from(values) });
        const one = curve([0, 1, 1, 2, 2, 3], [0, 0.1, 0.3, 0.3, 0.7, 0.7]);
        const list = (of, base, isDiscrete) => Array.from(difference(of, base, isDiscrete).values);
        for (const isDiscrete of [false, true]) {
            assert.deepEqual(list(one, curve(one.times, one.values), isDiscrete), [0, 0, 0, 0, 0, 0]);
            assert.deepEqual(
                list(curve(one.times, [1, 1, 2, 2, 3, 3]), curve(one.times, [1, 0, 2, 1, 3, 1]), isDiscrete),
                [0, 1, 0, 1, 0, 2],
            );
        }
        // The base has three points at 1: left is left, right is the last; one point meets what holds afterwards.
        assert.deepEqual(list(curve([1, 1], [5, 5]), curve([0, 1, 1, 1, 2], [0, 1, 2, 3, 3]), false), [4, 2]);
        assert.deepEqual(list(curve([1], [5]), curve([0, 1, 1, 2], [0, 1, 3, 3]), true), [2]);
        // Between points: on the line, or held.
        assert.deepEqual(list(curve([0.5, 0.5], [1, 2]), curve([0, 1], [0, 1]), false), [0.5, 1.5]);
        assert.deepEqual(list(curve([0.5], [1]), curve([0, 1], [0, 1]), true), [1]);
    });
    await page.context().close();
    await ended(viewer);
}

/** Names with any characters: they are text, wherever they stand. */
async function testNames() {
    const names = [
        "<img src=x onerror=alert(1)>",
        "</script><b>",
        "a&amp;b",
        "ünï çødé ☃",
        "q'\\\"o\\",
        "x.y[2].z(3)",
        "%2e%2e/etc",
        "__proto__",
    ];
    const quoted = names.map((n) => `"${n.replaceAll('"', '""')}"`);
    writeFileSync(
        join(work, "names.csv"),
        `time,${quoted.join(",")}\n0,${names.map((_, k) => k)}\n1,${names.map((_, k) => k + 1)}\n`,
    );
    const viewer = startViewer(koine, ["names.csv"], work);
    const layout = { "koine-layout": 1, view: "plots", panes: [{ curves: names }] };
    const page = await openPage(`${await viewer.address}#${encodeURIComponent(JSON.stringify(layout))}`);
    await step("names with any characters are text", async () => {
        await drawn(page, 0, /__proto__/);
        await eventually(async () => assert.deepEqual(await textsOf(page, ".chip > span:first-of-type"), names));
        assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main b, main script").length), 0);
        const [csv] = await Promise.all([page.waitForEvent("download"), page.locator("#export-csv").click()]);
        assert.equal(
            readFileSync(await csv.path(), "utf8").split("\n")[0],
            `time,${quoted.map((n, k) => (/[",\n ]/.test(names[k]) ? n : names[k]))}`,
        );
        execFileSync(koine, ["report", "names.csv", "--output", "names.html"], { cwd: work });
        await page.goto(pathToFileURL(join(work, "names.html")).href);
        await page.waitForSelector(".report-plot canvas");
        assert.equal(await page.evaluate(() => document.querySelectorAll("img[src=x], b").length), 0);
        await page.context().close();
    });
    await ended(viewer);
}

/** x[i](t) = k[i] t */
const ARRAY = `koine-ir 1
model Slopes
param k Real[3] = {1.0, 2.0, 3.0}
var x Real[3] continuous der start 0.0 fixed
eq e1 for i in 1:3: der(x[i]) := k[i]
end Slopes
`;

async function testArrays() {
    writeFileSync(join(work, "Slopes.ir"), ARRAY);
    const viewer = startViewer(koine, ["Slopes.ir"], work);
    const page = await openPage(await viewer.address);
    await step("run: the elements of an array are set in braces", async () => {
        const input = page.locator("input[data-name='k']");
        await eventually(async () => assert.equal(await input.inputValue(), "{1, 2, 3}"));
        await input.fill("{1, -4, 3}");
        await page.locator("#set-stop").fill("1");
        await page.locator("#run").click();
        await runIsDone(page);
        const exported = await page.evaluate(async () => {
            const { names } = await (await fetch("api/variables?run=0")).json();
            return (await fetch(`api/export.csv?run=0&vars=${names.indexOf("x[2]")}`)).text();
        });
        const last = exported.trim().split("\n").at(-1).split(",").map(Number);
        assert.ok(last[0] === 1 && Math.abs(last[1] + 4) < 1e-9, String(last));
    });
    await page.context().close();
    await ended(viewer);
}

async function testLive() {
    const viewer = startViewer(koine, ["Volterra.mdl"], work);
    const page = await openPage(await viewer.address);
    await step("live: curves grow while the run goes on; stop keeps what there is", async () => {
        await page.locator("#set-stop").fill("1e9");
        await page.locator("#set-interval").fill("1");
        await page.locator("#run").click();
        const rows = () => page.evaluate(async () => (await (await fetch("api/state")).json()).runs[0]);
        await page.waitForFunction(() => /time \d/.test(document.getElementById("progress").textContent));
        await page.keyboard.press("Escape");
        await page.locator("#tab-plots").click();
        await drawn(page, 0, /^Plot over time/);
        const first = await rows();
        assert.equal(first.state, "running");
        assert.equal(first.live, true);
        await page.waitForFunction(
            (to) =>
                Number(
                    document
                        .querySelector(".plot")
                        ?.getAttribute("aria-label")
                        ?.match(/to ([\d.e+]+):/)?.[1],
                ) >
                1.2 * to,
            first.to,
        );
        await shot(page, "live");
        const focused = () =>
            page.evaluate(() => [document.activeElement.type, document.querySelector(".run input").disabled]);
        await eventually(async () => {
            await page.locator(".run input").focus();
            assert.deepEqual(await focused(), ["checkbox", false]);
        });
        const points = await page.locator("#progress").textContent();
        await page.waitForFunction((text) => document.getElementById("progress").textContent !== text, points);
        assert.deepEqual(await focused(), ["checkbox", false], "the box has lost the focus");
        const tab = await page.locator("#tab-run").boundingBox(); /* a slow click, over several reports of the run */
        await page.mouse.move(tab.x + tab.width / 2, tab.y + tab.height / 2);
        await page.mouse.down();
        const before = await page.locator("#progress").textContent();
        await page.waitForFunction((text) => document.getElementById("progress").textContent !== text, before);
        await page.mouse.up();
        await page.locator("#stop").click();
        await page.waitForFunction(() => document.getElementById("message").textContent.includes("was stopped"));
        await eventually(async () => {
            const last = await rows();
            assert.equal(last.state, "stopped");
            assert.ok(last.to > first.to && !last.live, JSON.stringify(last));
        });
    });
    await page.context().close();
    await ended(viewer);
}

async function testLooks() {
    const viewer = startViewer(koine, ["hard.csv", "soft.csv", "heating/Heizung.mdl"], work);
    const address = await viewer.address;
    const layout = { "koine-layout": 1, view: "plots", panes: [{ curves: ["Y", "Y_Treppe"] }, { curves: ["Vy"] }] };
    const hash = `#${encodeURIComponent(JSON.stringify(layout))}`;
    const bothDrawn = async (page) => {
        await drawn(page, 0, /Y_Treppe \(soft\)/);
        await drawn(page, 1, /Vy \(soft\)/);
    };
    for (const colorScheme of ["light", "dark"]) {
        await step(`looks: desktop and phone, ${colorScheme}`, async () => {
            const desk = await openPage(address + hash, { colorScheme });
            await bothDrawn(desk);
            await shot(desk, `desktop-${colorScheme}`);
            await desk.locator("#tab-structure").click();
            await desk.waitForFunction(() => document.querySelector(".diagram img")?.naturalWidth > 0);
            await shot(desk, `structure-${colorScheme}`);
            await desk.context().close();
            const phone = await openPage(address + hash, {
                colorScheme,
                viewport: { width: 390, height: 780 },
                isMobile: true,
                hasTouch: true,
            });
            await bothDrawn(phone);
            await eventually(async () => {
                const overflow = await phone.evaluate(
                    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
                );
                assert.equal(overflow, 0, "the page is wider than the phone");
            });
            await shot(phone, `phone-${colorScheme}`);
            await phone.getByRole("button", { name: "Variables" }).tap();
            await phone.waitForSelector(".side.open .row");
            await shot(phone, `phone-variables-${colorScheme}`);
            await phone.context().close();
        });
    }
    await step("everything that can be pressed has a name", async () => {
        const page = await openPage(address + hash);
        await bothDrawn(page);
        const nameless = await page.evaluate(() =>
            [...document.querySelectorAll("button, input:not([hidden]), select, [role=tree], [role=figure]")]
                .filter(
                    (e) =>
                        !(
                            e.getAttribute("aria-label") ||
                            e.textContent.trim() ||
                            e.closest("label")?.textContent.trim()
                        ),
                )
                .map((e) => e.outerHTML.slice(0, 120)),
        );
        assert.deepEqual(nameless, []);
        await page.context().close();
    });
    await ended(viewer);
}

/** One after the other; a failure ends this row of tests and no other. */
async function inOrder(...tests) {
    try {
        for (const test of tests) await test();
    } catch (error) {
        if (!error.isTold) failures.push(`not ok, between two steps\n${error.stack}`);
    }
}

const begun = Date.now();
await Promise.all([
    inOrder(testResults, testUnits, testNames, testDifference),
    inOrder(testRuns, testValuesInForce, testArrays, testLive, testLooks),
]);
if (errors.length) failures.push(`not ok, the browser complained\n${errors.join("\n")}`);
await browser.close();
rmSync(work, { recursive: true, force: true });
for (const failure of failures) console.error(failure);
console.log(`${count} steps, ${((Date.now() - begun) / 1000).toFixed(1)} s; pictures in ${pictures}`);
process.exit(failures.length ? 1 : 0);
