const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** `999 B`, `1.5 KiB`, `2.0 GiB`: for people; at most nine characters. */
export function byteSize(bytes: number): string {
  let unit = 0;
  let value = bytes;
  // What would be rounded to 1024 belongs to the next unit.
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
