// What the server answers; the paths are relative, so that the token in the address goes with them.

export interface RunInfo {
    id: number;
    name: string;
    file: string;
    state: "done" | "running" | "stopped" | "failed" | "unreadable";
    live: boolean;
    rows: number;
    variables: number;
    from: number | null;
    to: number | null;
    statistics: boolean;
    profile: boolean;
    settings: string[];
    message: string;
    /** What should be known of the result: it is damaged, its run did not end. */
    remark: string;
    /** Files of the model that were edited since. */
    changed: string;
}

export interface State {
    revision: number;
    koine: string;
    model: { state: "none" | "working" | "good" | "failed"; target: string | null; changed: string };
    runs: RunInfo[];
    layout?: unknown;
}

export interface Variables {
    names: string[];
    units: string[];
    comments: string[];
    discrete: boolean[];
    constant: boolean[];
    index: Map<string, number>;
}

export interface Data {
    n: number;
    reduced: boolean;
    from: number;
    to: number;
    times: Float64Array;
    columns: Float64Array[];
}

export interface Place {
    file: string;
    source: number;
    line: number;
    text: string;
}

export interface Diagnostic {
    code: string | null;
    level: string;
    message: string;
    file: string | null;
    line: number | null;
    help: string | null;
}

export class ApiError extends Error {
    constructor(
        message: string,
        readonly status: number,
        readonly diagnostics: Diagnostic[] = [],
    ) {
        super(message);
    }
}

async function ask(path: string, options?: RequestInit): Promise<Response> {
    const response = await fetch(path, options);
    if (response.status !== 200) {
        const body = await response.json().catch(() => ({}));
        throw new ApiError(body.error ?? response.statusText, response.status, body.diagnostics);
    }
    return response;
}

export async function json<T>(path: string): Promise<T> {
    return (await ask(path)).json();
}

export async function post<T>(path: string, fields: [string, string][]): Promise<T> {
    const response = await ask(path, { method: "POST", body: new URLSearchParams(fields) });
    return response.json();
}

export async function variables(run: number): Promise<Variables> {
    const raw = await json<{ names: string[]; units: string[]; comments: string[]; discrete: string }>(
        `api/variables?run=${run}`,
    );
    return {
        ...raw,
        discrete: [...raw.discrete].map((c) => c === "1"),
        constant: [...raw.discrete].map((c) => c === "2"),
        index: new Map(raw.names.map((name, k) => [name, k])),
    };
}

export async function data(
    run: number,
    columns: number[],
    window: { from: number; to: number } | null,
    width: number,
    signal?: AbortSignal,
): Promise<Data> {
    const range = window ? `&from=${window.from}&to=${window.to}` : "";
    const response = await ask(`api/data?run=${run}&vars=${columns.join(",")}&width=${Math.round(width)}${range}`, {
        signal,
    });
    const all = new Float64Array(await response.arrayBuffer());
    const n = all[0];
    const column = (k: number) => all.subarray(4 + k * n, 4 + (k + 1) * n);
    return {
        n,
        reduced: all[1] !== 0,
        from: all[2],
        to: all[3],
        times: column(0),
        columns: columns.map((_, k) => column(k + 1)),
    };
}
