/** A duration as the error texts print it: `10s`, `1.5s`, `500ms`. */
export function durationText(ms: number): string {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(9))}s`;
  if (ms >= 1 || ms === 0) return ms === 0 ? "0ns" : `${Number(ms.toFixed(6))}ms`;
  return `${Number((ms * 1000).toFixed(3))}µs`;
}
