// Curves of several runs brought to common times, and their differences.

export interface Source {
    times: Float64Array;
    values: Float64Array;
}

/** All times of the sources in order, a time as often as the source has it that has it most often (both sides of an
 * event), and for each source which of its points stands there, or -1. */
export function mergeTimes(sources: Float64Array[]): { times: number[]; at: Int32Array[] } {
    const total = sources.reduce((n, s) => n + s.length, 0);
    const at = sources.map(() => new Int32Array(total).fill(-1));
    const next = sources.map(() => 0);
    const times: number[] = [];
    for (;;) {
        let time = Infinity;
        for (let k = 0; k < sources.length; k++)
            if (next[k] < sources[k].length && sources[k][next[k]] < time) time = sources[k][next[k]];
        if (time === Infinity) break;
        for (let k = 0; k < sources.length; k++)
            if (next[k] < sources[k].length && sources[k][next[k]] === time) at[k][times.length] = next[k]++;
        times.push(time);
    }
    return { times, at: at.map((a) => a.subarray(0, times.length)) };
}

/** The value of a curve at a time; between two points on a line or held. */
export function valueAt(source: Source, time: number, isDiscrete: boolean): number {
    const { times, values } = source;
    let low = 0;
    let high = times.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time) low = middle + 1;
        else high = middle;
    }
    if (low === 0) return NaN;
    const before = low - 1;
    if (low === times.length) return times[before] === time ? values[before] : NaN;
    if (isDiscrete || times[before] === time) return values[before];
    const share = (time - times[before]) / (times[low] - times[before]);
    return values[before] + share * (values[low] - values[before]);
}

/** The value of a curve at a time where another curve has `n` points, on its side number `side` (0 is the left one): of
 * as many points there the one of the same number, else the first for the left side and the last for all others. A curve
 * without a point there has the same value on all sides. */
function valueOnSide(source: Source, time: number, side: number, n: number, isDiscrete: boolean): number {
    const { times, values } = source;
    let low = 0;
    let high = times.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] < time) low = middle + 1;
        else high = middle;
    }
    if (low === times.length || times[low] !== time) return valueAt(source, time, isDiscrete);
    let count = 1;
    while (low + count < times.length && times[low + count] === time) count++;
    if (n === 1) return values[low + count - 1];
    return values[low + (count === n ? side : side === 0 ? 0 : count - 1)];
}

/** This curve minus another one, at the times of this one: left with left and right with right where it jumps. */
export function difference(of: Source, base: Source, isDiscrete: boolean): Source {
    const values = new Float64Array(of.values.length);
    for (let first = 0, end = 0; first < values.length; first = end) {
        const time = of.times[first];
        while (end < values.length && of.times[end] === time) end++;
        if (end === first) end++; /* not a number */
        for (let k = first; k < end; k++)
            values[k] = of.values[k] - valueOnSide(base, time, k - first, end - first, isDiscrete);
    }
    return { times: of.times, values };
}

/** As uPlot wants it: null is a gap, undefined a time that is another curve's. */
export function aligned(values: Float64Array, at: Int32Array | null): ArrayLike<number | null | undefined> {
    if (!at) {
        for (let k = 0; k < values.length; k++) if (Number.isNaN(values[k])) return Array.from(values, gap);
        return values;
    }
    const out = new Array<number | null | undefined>(at.length);
    for (let k = 0; k < at.length; k++) out[k] = at[k] < 0 ? undefined : gap(values[at[k]]);
    return out;
}

function gap(value: number): number | null {
    return Number.isNaN(value) ? null : value;
}
