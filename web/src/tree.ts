// The tree of variables: components fold, a search shows the matches as a flat list. Only the rows in sight exist, so
// that a hundred thousand variables cost no more than a hundred.
import { announce, h, debounced, replace } from "./dom.ts";
import { store } from "./state.ts";

interface Row {
    name: string; // shown
    path: string; // of the variable, or of the component
    level: number;
    isFolder: boolean;
    size: number; // components: variables below
}

const ROW = 26;

/** `a*.x?` is a glob over the whole name; anything else is looked for anywhere, without regard to case. */
export function matcher(text: string): (name: string) => boolean {
    if (/[*?]/.test(text)) {
        const source = text
            .replace(/[.+^${}()|[\]\\]/g, "\\$&")
            .replace(/\*/g, ".*")
            .replace(/\?/g, ".");
        const expression = new RegExp(`^${source}$`, "i");
        return (name) => expression.test(name);
    }
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (name) => words.every((word) => name.toLowerCase().includes(word));
}

/** Splits at dots outside of brackets. */
function parts(name: string): string[] {
    const out = [""];
    let depth = 0;
    for (const c of name) {
        if (c === "[" || c === "(") depth++;
        if (c === "]" || c === ")") depth--;
        if (c === "." && depth === 0) out.push("");
        else out[out.length - 1] += c;
    }
    return out;
}

interface Folder {
    folders: Map<string, Folder>;
    leaves: { name: string; path: string }[];
    size: number;
}

function fold(names: string[]): Folder {
    const top: Folder = { folders: new Map(), leaves: [], size: 0 };
    for (const path of names) {
        const steps = parts(path);
        let folder = top;
        folder.size++;
        for (const step of steps.slice(0, -1)) {
            let next = folder.folders.get(step);
            if (!next) folder.folders.set(step, (next = { folders: new Map(), leaves: [], size: 0 }));
            next.size++;
            folder = next;
        }
        folder.leaves.push({ name: steps[steps.length - 1], path });
    }
    foldArrays(top);
    return top;
}

/** The elements of a long array become a folder of their own. */
function foldArrays(folder: Folder): void {
    const FROM = 12;
    const arrays = new Map<string, { name: string; path: string }[]>();
    for (const inner of folder.folders.values()) foldArrays(inner);
    for (const leaf of folder.leaves) {
        const base = /^(.+)\[[\d,]+\]$/.exec(leaf.name)?.[1];
        if (!base) continue;
        const known = arrays.get(base);
        if (known) known.push(leaf);
        else arrays.set(base, [leaf]);
    }
    const folded = new Set<string>();
    for (const [base, leaves] of arrays) {
        if (leaves.length < FROM) continue;
        folder.folders.set(`${base}[ ]`, { folders: new Map(), leaves, size: leaves.length });
        for (const leaf of leaves) folded.add(leaf.path);
    }
    if (folded.size) folder.leaves = folder.leaves.filter((leaf) => !folded.has(leaf.path));
}

export class Tree {
    readonly search = h("input", {
        type: "search",
        id: "search",
        placeholder: "Search: word or glob, *.T",
        "aria-label": "Search variables",
        spellcheck: "false",
        autocomplete: "off",
    });
    private readonly count = h("span", { class: "soft", id: "matches" });
    private readonly all = h("button", { class: "small", onclick: () => this.plotAll(), hidden: true }, "Plot these");
    private readonly hint = h(
        "p",
        { class: "hint", id: "axis-hint", hidden: true },
        "Choose the variable for the horizontal axis; Esc leaves it as it is.",
    );
    private axisOf: number | null = null;
    private axisDone = (): void => undefined;
    private readonly list = h("div", { class: "tree", role: "tree", tabindex: 0, "aria-label": "Variables" });
    private readonly space = h("div", { class: "tree-space" });
    readonly root = h(
        "section",
        { class: "variables", "aria-label": "Variables" },
        h("div", { class: "search-row" }, this.search),
        this.hint,
        h("div", { class: "search-info" }, this.count, this.all),
        this.list,
    );
    private names: string[] = [];
    private matches: string[] | null = null;
    private rows: Row[] = [];
    private readonly open = new Set<string>();
    private focus = 0;

    constructor(private readonly onExplain: (name: string) => void) {
        this.list.append(this.space);
        this.list.addEventListener("scroll", () => this.render());
        this.list.addEventListener("keydown", (event) => this.onKey(event));
        this.search.addEventListener(
            "input",
            debounced(60, () => this.find()),
        );
        this.search.addEventListener("keydown", (event) => {
            if (event.key === "Enter") {
                this.find(); /* the list may still be that of the letters before */
                if (this.rows.length) this.activate(this.rows[0]);
            }
            if (event.key === "ArrowDown") this.list.focus();
            if (event.key === "Escape") {
                this.endChoice();
                this.search.value = "";
                this.find();
            }
        });
        new ResizeObserver(() => this.render()).observe(this.list);
    }

    setNames(names: string[]): void {
        if (names.length === this.names.length && names.every((n, k) => n === this.names[k])) return;
        this.names = names;
        this.find();
    }

    private find(): void {
        const text = this.search.value.trim();
        this.matches = text ? this.names.filter(matcher(text)) : null;
        this.count.textContent = this.matches
            ? `${this.matches.length} of ${this.names.length}`
            : `${this.names.length} variables`;
        this.all.hidden = !this.matches || this.matches.length < 2 || this.matches.length > 24;
        if (this.matches) announce(`${this.matches.length} variables found`);
        this.focus = 0;
        this.list.scrollTop = 0;
        this.flatten();
    }

    private flatten(): void {
        this.rows = [];
        if (this.matches) {
            this.rows = this.matches.map((path) => ({ name: path, path, level: 0, isFolder: false, size: 0 }));
        } else {
            const visit = (folder: Folder, prefix: string, level: number) => {
                for (const leaf of folder.leaves) this.rows.push({ ...leaf, level, isFolder: false, size: 0 });
                for (const [name, inner] of folder.folders) {
                    const path = prefix + name;
                    this.rows.push({ name, path, level, isFolder: true, size: inner.size });
                    if (this.open.has(path)) visit(inner, `${path}.`, level + 1);
                }
            };
            visit(fold(this.names), "", 0);
        }
        this.render();
    }

    /** The next variable chosen is the horizontal axis of a pane. */
    chooseAxis(pane: number, done: () => void): void {
        this.axisOf = pane;
        this.axisDone = done;
        this.hint.hidden = false;
        this.search.focus();
        announce("Choose a variable for the horizontal axis");
    }

    private endChoice(): void {
        if (this.axisOf != null) this.axisDone();
        this.axisOf = null;
        this.hint.hidden = true;
    }

    private plotAll(): void {
        const pane = store.layout.panes[store.active];
        for (const name of this.matches ?? []) if (!pane.curves.includes(name)) pane.curves.push(name);
        store.emit("layout");
    }

    private activate(row: Row): void {
        if (row.isFolder) {
            if (this.open.has(row.path)) this.open.delete(row.path);
            else this.open.add(row.path);
            this.flatten();
        } else if (this.axisOf != null && store.layout.panes[this.axisOf]) {
            store.layout.panes[this.axisOf].x = row.path;
            this.endChoice();
            store.emit("layout");
        } else {
            this.endChoice();
            store.toggleCurve(row.path);
        }
    }

    private onKey(event: KeyboardEvent): void {
        const page = Math.max(1, Math.floor(this.list.clientHeight / ROW) - 1);
        const row = this.rows[this.focus];
        const to = (k: number) => {
            this.focus = Math.max(0, Math.min(this.rows.length - 1, k));
            const top = this.focus * ROW;
            if (top < this.list.scrollTop) this.list.scrollTop = top;
            if (top + ROW > this.list.scrollTop + this.list.clientHeight)
                this.list.scrollTop = top + ROW - this.list.clientHeight;
            this.render();
        };
        const isOpen = row?.isFolder && this.open.has(row.path);
        const actions: Record<string, () => void> = {
            ArrowDown: () => to(this.focus + 1),
            ArrowUp: () => (this.focus ? to(this.focus - 1) : this.search.focus()),
            PageDown: () => to(this.focus + page),
            PageUp: () => to(this.focus - page),
            Home: () => to(0),
            End: () => to(this.rows.length - 1),
            Enter: () => row && this.activate(row),
            " ": () => row && this.activate(row),
            ArrowRight: () => (row?.isFolder && !isOpen ? this.activate(row) : to(this.focus + 1)),
            ArrowLeft: () => (isOpen ? this.activate(row) : to(this.focus - 1)),
            e: () => row && !row.isFolder && this.onExplain(row.path),
        };
        const action = actions[event.key];
        if (!action || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        action();
    }

    /** The rows in sight, and some around. */
    render(): void {
        this.space.style.height = `${this.rows.length * ROW}px`;
        const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 8);
        const last = Math.min(this.rows.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW) + 8);
        const shown = new Set(store.layout.panes[store.active]?.curves ?? []);
        const elsewhere = new Set(store.layout.panes.flatMap((p) => p.curves));
        const elements: HTMLElement[] = [];
        for (let k = first; k < last; k++) elements.push(this.row(this.rows[k], k, shown, elsewhere));
        replace(this.space, ...elements);
        this.list.setAttribute("aria-activedescendant", `row-${this.focus}`);
    }

    private row(row: Row, k: number, shown: Set<string>, elsewhere: Set<string>): HTMLElement {
        const isOn = shown.has(row.path);
        const { unit, comment, constant } = row.isFolder
            ? { unit: "", comment: "", constant: false }
            : store.describe(row.path);
        const element = h(
            "div",
            {
                class: `row${constant ? " fixed" : ""}${isOn ? " on" : elsewhere.has(row.path) ? " elsewhere" : ""}${k === this.focus ? " focus" : ""}`,
                id: `row-${k}`,
                role: "treeitem",
                "aria-level": row.level + 1,
                "aria-selected": row.isFolder ? null : isOn ? "true" : "false",
                "aria-expanded": row.isFolder ? (this.open.has(row.path) ? "true" : "false") : null,
                title: [row.path, comment].filter(Boolean).join(" — "),
                onclick: () => {
                    this.focus = k;
                    this.activate(row);
                },
            },
            h(
                "span",
                { class: "mark", "aria-hidden": "true" },
                row.isFolder ? (this.open.has(row.path) ? "▾" : "▸") : isOn ? "●" : "○",
            ),
            h("span", { class: "name" }, row.name),
            h("span", { class: "soft unit" }, row.isFolder ? String(row.size) : unit),
        );
        if (!row.isFolder && store.state.model.state === "good")
            element.append(
                h(
                    "button",
                    {
                        class: "icon explain",
                        title: `What defines ${row.path}? (e)`,
                        "aria-label": `What defines ${row.path}?`,
                        tabindex: -1,
                        onclick: (event: MouseEvent) => {
                            event.stopPropagation();
                            this.onExplain(row.path);
                        },
                    },
                    "ƒ",
                ),
            );
        element.style.top = `${k * ROW}px`;
        element.style.paddingLeft = `${12 + 14 * row.level}px`;
        return element;
    }
}
