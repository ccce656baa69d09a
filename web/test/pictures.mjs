// node pictures.mjs KOINE FOLDER: the pictures of docs/tour-viewer.md; tools/make-pictures calls it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startBrowser, startViewer } from "./harness.mjs";

const koine = resolve(process.argv[2]);
const folder = resolve(process.argv[3]);
const examples = join(import.meta.dirname, "../../examples");
const work = mkdtempSync(join(tmpdir(), "koine-pictures-"));
mkdirSync(folder, { recursive: true });
for (const name of ["bouncing-ball/Ball.mdl", "bouncing-ball/Ball.exp.yaml", "heating"])
    cpSync(join(examples, name), join(work, name.split("/").pop()), { recursive: true });
const run = (...args) => execFileSync(koine, args, { cwd: work });
run("run", "Ball.mdl", "--quiet", "--output", "stiff.h5");
run("run", "Ball.mdl", "--quiet", "--output", "soft.h5", "--set", "D=1");
run("run", "heating/Heizung.mdl", "--quiet", "--output", "heating.h5", "--stop", "40");

const browser = await startBrowser();
const size = { width: 1160, height: 720 };

async function open(args, layout, options = {}) {
    const viewer = startViewer(koine, args, work);
    const page = await (await browser.newContext({ viewport: size, ...options })).newPage();
    const hash = layout ? `#${encodeURIComponent(JSON.stringify({ "koine-layout": 1, ...layout }))}` : "";
    await page.goto((await viewer.address) + hash);
    return { viewer, page };
}

async function finish({ viewer, page }, name) {
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.context().close();
    await viewer.stop();
}

const ball = ["stiff.h5", "soft.h5", "Ball.mdl"];
const panes = [{ curves: ["Y", "Y_Treppe"] }, { curves: ["Vy"] }];

const curves = await open(ball, { view: "plots", panes });
await curves.page.waitForSelector(".pane canvas");
const box = await curves.page.locator(".u-over").first().boundingBox();
await curves.page.mouse.move(box.x + box.width * 0.4, box.y + 60);
await finish(curves, "viewer-curves");

const dark = await open(["stiff.h5"], { view: "plots", panes: [{ curves: ["Vy"], x: "Y" }] }, { colorScheme: "dark" });
await dark.page.waitForSelector(".pane canvas");
await finish(dark, "viewer-phase");

const equation = await open(ball, { view: "plots", panes });
await equation.page.locator(".row[title^='Ay']").hover();
await equation.page.getByRole("button", { name: "What defines Ay?" }).click();
await equation.page.waitForSelector("#glass-name");
await finish(equation, "viewer-equation");

const structure = await open(["heating.h5", "heating/Heizung.mdl"], { view: "structure", panes });
await structure.page.waitForFunction(() => document.querySelector(".diagram img")?.complete);
await structure.page.locator(".structure input").fill("Zimmer.TRaum");
await structure.page.waitForTimeout(200);
await structure.page.locator(".found button").first().click();
await structure.page.waitForSelector("#glass-name");
await finish(structure, "viewer-structure");

const runner = await open(["Ball.mdl"], null);
await runner.page.getByLabel("D", { exact: true }).fill("0.5");
await runner.page.locator("#profile").check();
await runner.page.locator("#run").click();
await runner.page.waitForFunction(() => document.getElementById("message").textContent.includes("is done"));
await runner.page.screenshot({ path: join(folder, "viewer-run.png") });
await runner.page.keyboard.press("3");
await runner.page.locator("#tab-analysis").click();
await runner.page.waitForSelector(".profile tbody tr");
await runner.page.waitForSelector("canvas.incidence");
await finish(runner, "viewer-analysis");

const phone = await open(
    ball,
    { view: "plots", panes },
    { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true },
);
await phone.page.waitForSelector(".pane canvas");
await finish(phone, "viewer-phone");

run("report", "stiff.h5", "soft.h5", "Ball.mdl", "--variables", "Y,Y_Treppe", "--title", "A ball on stairs");
const page = await (await browser.newContext({ viewport: size })).newPage();
await page.goto(pathToFileURL(join(work, "report.html")).href);
await page.waitForSelector(".report-plot canvas");
await page.screenshot({ path: join(folder, "viewer-report.png") });

await browser.close();
rmSync(work, { recursive: true, force: true });
