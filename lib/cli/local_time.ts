/** `2026-01-31 09:05`, in the time zone of this machine; blanks for no time at all. */
export function localTime(date: Date | undefined): string {
  if (date === undefined || Number.isNaN(date.getTime())) return " ".repeat("2026-01-31 09:05".length);
  const pad = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}
