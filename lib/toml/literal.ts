/** Numbers and times in the one form in which they are printed. */

/**
 * The shortest decimal that reads back as the same number, without an exponent and always with a point: what Rust prints.
 */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const text = Object.is(value, -0) ? "-0" : withoutExponent(String(value));
  return text.includes(".") ? text : `${text}.0`;
}

function withoutExponent(text: string): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign, first, rest = "", exponent] = match;
  const digits = `${first}${rest}`;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.slice(0, point).padEnd(point, "0")}${digits.length > point ? `.${digits.slice(point)}` : ""}`;
}

/** Capital letters as separators, seconds always, at most nine digits behind them and no zeros at their end. */
export function datetimeText(source: string): string {
  const match = /^(\d{4}-\d\d-\d\d)?[Tt ]?(?:(\d\d:\d\d)(:\d\d)?(?:\.(\d+))?)?([Zz]|[+-]\d\d:\d\d)?$/.exec(source);
  if (match === null) throw new Error("the parser accepted a date that has no known form");
  const [, date = "", minutes, seconds = ":00", digits = "", zone = ""] = match;
  if (minutes === undefined) return date;
  const fraction = digits.slice(0, 9).replace(/0+$/, "");
  const time = `${minutes}${seconds}${fraction === "" ? "" : `.${fraction}`}`;
  const offset = zone === "z" ? "Z" : zone === "-00:00" ? "+00:00" : zone;
  return date === "" ? time : `${date}T${time}${offset}`;
}
