// Making elements, and the few things every view needs.

type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: any) => void);

/** h("button", { class: "x", onclick: f }, "text"): attributes, properties that begin with `on` are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Record<string, Value> = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, "");
        else if (value !== false && value != null) element.setAttribute(name, String(value));
    }
    for (const child of children) if (child) element.append(child);
    return element;
}

export function replace(parent: Element, ...children: Child[]): void {
    parent.replaceChildren(...children.filter((c): c is Node | string => !!c));
}

/** Says something to a screen reader. */
export function announce(text: string): void {
    const region = document.getElementById("announce");
    if (region) region.textContent = text;
}

export function download(name: string, content: BlobPart, type: string): void {
    const address = URL.createObjectURL(new Blob([content], { type }));
    const link = h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Calls f with the last arguments when nobody has asked for it for `ms`: while somebody keeps asking, it waits. */
export function debounced<A extends unknown[]>(ms: number, f: (...args: A) => void): (...args: A) => void {
    let timer = 0;
    return (...args: A) => {
        clearTimeout(timer);
        timer = window.setTimeout(() => f(...args), ms);
    };
}

/** A number for people: six digits that count. */
export function number(value: number | null | undefined): string {
    if (value == null || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(5) : value.toPrecision(7);
    return text
        .replace(/(\.\d*?)0+(e|$)/, "$1$2")
        .replace(/\.(e|$)/, "$1")
        .replace("-", "−");
}

const colours = new Map<string, string>();

/** A colour of the theme as the canvas wants it. Kept: to ask for it costs a layout of the page. */
export function css(name: string): string {
    let colour = colours.get(name);
    if (colour === undefined) {
        const probe = document.createElement("span");
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        colour = getComputedStyle(probe).color;
        probe.remove();
        colours.set(name, colour);
    }
    return colour;
}

/** After a change from light to dark. */
export function forgetColours(): void {
    colours.clear();
}
