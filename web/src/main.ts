// The page: a bar with the views, and what the server says while it runs.
import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./style.css";
import { Analysis } from "./analysis.ts";
import * as api from "./api.ts";
import { announce, download, h } from "./dom.ts";
import { Plots } from "./plots.ts";
import { Runner } from "./runner.ts";
import { readLayout, store, writeLayout } from "./state.ts";
import { Structure } from "./structure.ts";

const VIEWS = ["plots", "structure", "analysis", "run"] as const;
type View = (typeof VIEWS)[number];
const TITLES: Record<View, string> = { plots: "Plots", structure: "Structure", analysis: "Analysis", run: "Run" };

class App {
    private readonly structure = new Structure((name) => this.plot(name));
    private readonly plots = new Plots((name) => this.explain(name));
    private readonly analysis = new Analysis(
        (source, line) => this.showSource(source, line),
        (file, line) => this.showFile(file, line),
    );
    private readonly runner = new Runner((file, line) => this.showFile(file, line));
    private readonly views: Record<View, HTMLElement> = {
        plots: this.plots.root,
        structure: this.structure.root,
        analysis: this.analysis.root,
        run: this.runner.root,
    };
    private readonly title = h("h1", {}, "Koine");
    private readonly status = h("span", { class: "status", id: "status" });
    // Made once: a button replaced between press and release of the mouse would lose the click.
    private readonly buttons = Object.fromEntries(
        VIEWS.map((v) => [v, h("button", { role: "tab", id: `tab-${v}`, onclick: () => this.show(v) }, TITLES[v])]),
    ) as Record<View, HTMLButtonElement>;
    private readonly file = h("input", {
        type: "file",
        accept: ".json",
        hidden: true,
        onchange: () => void this.openLayout(),
    });

    start(): void {
        const app = document.getElementById("app")!;
        const header = h(
            "header",
            { class: "bar" },
            this.title,
            h("nav", { role: "tablist", "aria-label": "Views" }, ...VIEWS.map((v) => this.buttons[v])),
            h("span", { class: "grow" }),
            this.status,
            h(
                "details",
                { class: "menu" },
                h("summary", { "aria-label": "Menu" }, "⋯"),
                h(
                    "div",
                    {},
                    h("button", { onclick: () => this.saveLayout() }, "Save layout…"),
                    h("button", { onclick: () => this.file.click() }, "Open layout…"),
                    h("button", { onclick: () => this.turnTheme() }, "Light or dark"),
                    this.keys(),
                ),
            ),
            this.file,
        );
        app.append(header, h("main", {}, ...VIEWS.map((v) => this.views[v])));
        store.load(location.href);
        this.setTheme(localStorage.getItem("koine-theme"));
        store.on("state", () => this.onState());
        store.on("layout", () => this.renderTabs());
        addEventListener("keydown", (event) => this.onKey(event));
        // A link pasted into the open page. Its own text counts: the address may have been written over since.
        addEventListener("hashchange", (event) => store.load(event.newURL) && this.showLayout());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plots.repaint());
        void this.listen();
    }

    private keys(): HTMLElement {
        const rows: [string, string][] = [
            ["/", "search"],
            ["n", "new pane"],
            ["+ −", "zoom"],
            ["← →", "pan"],
            ["0", "whole run"],
            ["e", "equation behind the variable"],
            ["1–4", "views"],
        ];
        return h("dl", { class: "keys" }, ...rows.flatMap(([key, what]) => [h("dt", {}, key), h("dd", {}, what)]));
    }

    // ---- the server ----
    private async listen(): Promise<void> {
        try {
            const first = await api.json<api.State>("api/state");
            const layout = store.hasLayout ? null : readLayout(first.layout);
            if (layout) {
                store.layout = layout;
                store.hasLayout = true;
            }
            this.take(first);
            if (!store.hasLayout && !first.runs.length && first.model.target) store.layout.view = "run";
            store.emit("layout");
        } catch {
            this.lost();
            return;
        }
        const changes = new EventSource("api/changes");
        changes.onmessage = (event) => this.take(JSON.parse(event.data));
        changes.onerror = () => this.lost();
    }

    private take(state: api.State): void {
        for (const run of state.runs) {
            const before = store.state.runs.find((r) => r.id === run.id);
            if (before && (before.live !== run.live || before.variables !== run.variables))
                store.variables.delete(run.id);
        }
        store.state = state;
        store.emit("state");
    }

    private lost(): void {
        this.status.textContent = "The viewer has ended";
        this.status.className = "status bad";
        announce("The viewer has ended");
    }

    private onState(): void {
        const { model, runs } = store.state;
        const name = model.target ?? runs[0]?.name ?? "Koine";
        this.title.textContent = name.replace(/^.*\//, "");
        document.title = `${this.title.textContent} – Koine`;
        const going = runs.find((r) => r.state === "running");
        const bad = runs.find((r) => r.state === "unreadable");
        this.status.className = `status${bad || model.state === "failed" ? " bad" : ""}`;
        this.status.textContent = going
            ? "Running…"
            : model.state === "working"
              ? "Compiling…"
              : model.state === "failed"
                ? "The model has mistakes"
                : bad
                  ? `${bad.name} cannot be read`
                  : model.changed
                    ? `${model.changed} has changed since it was opened`
                    : "";
        this.status.title =
            bad?.message ??
            (model.changed
                ? "A run takes it as it is now; structure and analysis show it as it was: start the viewer again."
                : "");
        if (model.state === "good" && !store.modelUnits.size) void this.loadUnits();
        this.renderTabs();
    }

    /** Units and comments of the model, for results that have none. */
    private async loadUnits(): Promise<void> {
        const answer = await api.json<{ names: string[]; units: string[]; comments: string[] }>("api/names");
        answer.names.forEach((name, k) =>
            store.modelUnits.set(name, { unit: answer.units[k], comment: answer.comments[k] }),
        );
        store.emit("variables");
        store.emit("layout");
    }

    // ---- views ----
    private renderTabs(): void {
        const hasModel = store.state.model.target != null;
        const view = (VIEWS as readonly string[]).includes(store.layout.view) ? (store.layout.view as View) : "plots";
        for (const v of VIEWS) {
            this.buttons[v].hidden = (v === "structure" || v === "run") && !hasModel;
            this.buttons[v].setAttribute("aria-selected", v === view ? "true" : "false");
        }
        for (const v of VIEWS) this.views[v].hidden = v !== view;
        if (view === "structure") void this.structure.load();
        if (view === "analysis") void this.analysis.load();
        if (view === "run") void this.runner.load();
    }

    private show(view: View): void {
        if (store.layout.view === view) return;
        store.layout.view = view;
        store.emit("layout");
    }

    private plot(name: string): void {
        const pane = store.layout.panes[store.active];
        if (!pane.curves.includes(name)) pane.curves.push(name);
        store.layout.view = "plots";
        store.emit("layout");
    }

    private explain(name: string): void {
        this.show("structure");
        void this.structure.explain(name);
    }

    private showSource(source: number, line: number): void {
        this.show("structure");
        void this.structure.showSource(source, line);
    }

    private showFile(file: string, line: number): void {
        this.show("structure");
        void this.structure.showFile(file, line);
    }

    // ---- layout and looks ----
    private saveLayout(): void {
        download("koine-layout.json", `${writeLayout(store.layout, 2)}\n`, "application/json");
    }

    private async openLayout(): Promise<void> {
        const file = this.file.files?.[0];
        this.file.value = "";
        if (!file) return;
        const layout = readLayout(
            await file
                .text()
                .then(JSON.parse)
                .catch(() => null),
        );
        if (!layout) {
            announce("This is not a layout");
            this.status.textContent = `${file.name} is not a layout`;
            return;
        }
        store.layout = layout;
        this.showLayout();
    }

    /** Shows a layout that has just replaced another. */
    private showLayout(): void {
        store.active = 0;
        store.emit("layout");
        store.emit("window");
    }

    private setTheme(theme: string | null): void {
        if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
        else delete document.documentElement.dataset.theme;
    }

    private turnTheme(): void {
        const set = document.documentElement.dataset.theme;
        const isDark = set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
        const theme = isDark ? "light" : "dark";
        localStorage.setItem("koine-theme", theme);
        this.setTheme(theme);
        this.plots.repaint();
    }

    private onKey(event: KeyboardEvent): void {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
        if (event.key === "/") {
            event.preventDefault();
            this.show("plots");
            this.plots.focusSearch();
        } else if (event.key === "n") {
            this.show("plots");
            this.plots.addPane();
        } else if (event.key >= "1" && event.key <= "4") {
            this.show(VIEWS[Number(event.key) - 1]);
        }
    }
}

new App().start();
