// Display units: shown = factor * value + offset.
import assert from "node:assert/strict";
import { test } from "node:test";
import { choices, shown } from "../../src/units.ts";

const convert = (value: number, from: string, to: string) => {
    const { factor, offset } = shown(from, to);
    return factor * value + offset;
};
const near = (value: number, wanted: number) =>
    assert.ok(Math.abs(value - wanted) <= 1e-12 * Math.max(1, Math.abs(wanted)), `${value} is not ${wanted}`);

test("the unit of the model comes first and changes nothing", () => {
    assert.deepEqual(choices("m")[0], { unit: "m", factor: 1, offset: 0 });
    assert.deepEqual(choices("furlong"), [{ unit: "furlong", factor: 1, offset: 0 }]);
});

test("values in other units (SI brochure, 9th edition)", () => {
    near(convert(1, "h", "s"), 3600);
    near(convert(Math.PI, "rad", "deg"), 180);
    near(convert(1, "Hz", "rpm"), 60);
    near(convert(101325, "Pa", "bar"), 1.01325);
    near(convert(10, "m/s", "km/h"), 36);
    near(convert(3.6e6, "J", "kWh"), 1);
});

test("temperatures have an offset: water boils at 100 degrees Celsius and 212 Fahrenheit", () => {
    near(convert(373.15, "K", "degC"), 100);
    near(convert(373.15, "K", "degF"), 212);
    near(convert(100, "degC", "degF"), 212);
});

test("what is shown there and back is the value again, wherever both ways are known", () => {
    for (const unit of ["m", "s", "h", "K", "degC", "Pa", "bar", "rad"])
        for (const other of choices(unit).slice(1)) {
            const back = choices(other.unit).find((c) => c.unit === unit);
            if (back) near(back.factor * (other.factor * 7 + other.offset) + back.offset, 7);
        }
});

test("a unit that is not offered is not taken", () => {
    assert.deepEqual(shown("m", "kg"), { unit: "m", factor: 1, offset: 0 });
    assert.deepEqual(shown("m", undefined), { unit: "m", factor: 1, offset: 0 });
});
