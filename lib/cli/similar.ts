/** Names less alike than this are not what was meant. Source: clap. */
const LEAST_SIMILARITY = 0.7;

/** The candidate that is most like `word`, if one is like it at all. */
export function mostSimilar(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestSimilarity = LEAST_SIMILARITY;
  for (const candidate of candidates) {
    const similarity = jaro(word, candidate);
    if (similarity > bestSimilarity) [best, bestSimilarity] = [candidate, similarity];
  }
  return best;
}

/** The similarity of Jaro: 0 for nothing in common, 1 for equal words. */
function jaro(a: string, b: string): number {
  if (a.length === 0 || b.length === 0) return a === b ? 1 : 0;
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1);
  const taken = new Set<number>();
  const [commonInA, commonInB]: [string[], string[]] = [[], []];
  for (const [i, letter] of [...a].entries()) {
    for (let j = Math.max(0, i - reach); j <= Math.min(b.length - 1, i + reach); j++) {
      if (b[j] !== letter || taken.has(j)) continue;
      taken.add(j);
      commonInA.push(letter);
      break;
    }
  }
  const common = commonInA.length;
  if (common === 0) return 0;
  for (let j = 0; j < b.length; j++) if (taken.has(j)) commonInB.push(b[j]!);
  const swapped = commonInA.filter((letter, i) => letter !== commonInB[i]).length / 2;
  return (common / a.length + common / b.length + (common - swapped) / common) / 3;
}
