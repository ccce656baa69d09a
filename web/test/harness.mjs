// A viewer and a browser to drive it: the program is started on a free port, Chromium is the distribution's.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const CHROMIUM = [
    process.env.KOINE_CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
].find((path) => path && existsSync(path));

const STOP_MS = 30000; // a viewer that does not end by then is a failure, not a test without end

/** A test that fails leaves no viewer, and so no run, behind. */
const children = [];
process.on("exit", () => children.forEach((child) => child.exitCode === null && child.kill("SIGINT")));

/** Starts `koine view ...`; gives its address and a function that ends it as Ctrl-C does. */
export function startViewer(koine, args, cwd) {
    const child = spawn(koine, ["view", ...args, "--no-open", "--port", "0"], {
        cwd,
        stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let errors = "";
    let output = "";
    child.stderr.on("data", (data) => (errors += data));
    const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
    const address = new Promise((resolve, reject) => {
        child.stdout.on("data", (data) => {
            output += data;
            if (output.includes("\n")) resolve(output.split("\n")[0].trim());
        });
        exited.then((code) => reject(new Error(`koine view ended with ${code}: ${errors}`)));
    });
    return {
        child,
        address,
        stop: async () => {
            child.kill("SIGINT");
            const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
            const code = await exited;
            clearTimeout(late);
            return code;
        },
    };
}

export async function startBrowser() {
    return chromium.launch({
        executablePath: CHROMIUM,
        args: [
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
        ],
    });
}
