// node test/unit.mjs: the tests of the pure modules, test/unit/*.test.ts, bundled and given to node's own runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("unit/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "koine-unit-"));
const names = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
    entryPoints: names.map((name) => join(here, name)),
    outdir: folder,
    bundle: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
});
const files = readdirSync(folder).map((name) => join(folder, name));
const done = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(files.length === names.length && names.length > 0 ? (done.status ?? 1) : 1);
