/** The number that a text writes in decimal, with a sign or exponent if it likes: undefined for any other text. */
export function decimalOf(text: string): number | undefined {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}
