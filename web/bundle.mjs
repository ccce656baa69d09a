// node bundle.mjs FOLDER: index.html, and scripts and styles as one file each.
import { build } from "esbuild";
import { copyFileSync } from "node:fs";

const folder = process.argv[2];
await build({
    entryPoints: { page: "src/main.ts", report: "src/report.ts" },
    outdir: folder,
    bundle: true,
    minify: true,
    target: "es2022",
    format: "iife",
    legalComments: "inline",
    logLevel: "warning",
});
copyFileSync("src/index.html", `${folder}/index.html`);
