// Display units: for a unit of the model the others it can be shown in. shown = factor * value + offset.

export interface Shown {
    unit: string;
    factor: number;
    offset: number;
}

// biome-ignore format: a table, one unit a line
const groups: Record<string, [string, number, number?][]> = {
    m: [["mm", 1e3], ["cm", 1e2], ["km", 1e-3]],
    s: [["ms", 1e3], ["µs", 1e6], ["min", 1 / 60], ["h", 1 / 3600], ["d", 1 / 86400]],
    h: [["s", 3600], ["min", 60], ["d", 1 / 24]],
    rad: [["deg", 180 / Math.PI], ["rev", 0.5 / Math.PI]],
    "rad/s": [["deg/s", 180 / Math.PI], ["rpm", 30 / Math.PI]],
    K: [["degC", 1, -273.15], ["degF", 1.8, -459.67]],
    degC: [["K", 1, 273.15], ["degF", 1.8, 32]],
    Pa: [["kPa", 1e-3], ["bar", 1e-5], ["MPa", 1e-6]],
    bar: [["Pa", 1e5], ["kPa", 1e2]],
    J: [["kJ", 1e-3], ["MJ", 1e-6], ["kWh", 1 / 3.6e6]],
    W: [["kW", 1e-3], ["MW", 1e-6], ["mW", 1e3]],
    "m/s": [["km/h", 3.6], ["mm/s", 1e3]],
    N: [["kN", 1e-3], ["mN", 1e3]],
    "N*m": [["kN*m", 1e-3]],
    V: [["mV", 1e3], ["kV", 1e-3]],
    A: [["mA", 1e3], ["kA", 1e-3]],
    kg: [["g", 1e3], ["t", 1e-3]],
    Hz: [["kHz", 1e-3], ["rpm", 60]],
    F: [["µF", 1e6], ["nF", 1e9], ["pF", 1e12]],
    H: [["mH", 1e3], ["µH", 1e6]],
    ohm: [["kohm", 1e-3], ["Mohm", 1e-6]],
    C: [["mC", 1e3], ["Ah", 1 / 3600]],
    "1": [["%", 100]],
};

export function choices(unit: string): Shown[] {
    const others = groups[unit] ?? [];
    return [{ unit, factor: 1, offset: 0 }, ...others.map(([u, f, o]) => ({ unit: u, factor: f, offset: o ?? 0 }))];
}

export function shown(unit: string, wanted: string | undefined): Shown {
    return choices(unit).find((c) => c.unit === wanted) ?? { unit, factor: 1, offset: 0 };
}
