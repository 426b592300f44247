/** Text of jobs, made fit to be shown: nothing in it steers a terminal, and nothing in it is hidden. */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** A line longer than this is cut when it is shown, in UTF-16 units. */
export const LINE_MAX_CHARS = 4096;

/**
 * C0 without line feed, DEL, C1; what reorders or hides text (https://www.unicode.org/reports/tr36/); the tag
 * characters; and halves of a character. Joiners and variation selectors stay, since emoji and several scripts are written with them.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

function picture(character: string): string {
  if (character === '\t') return '  ';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** `text` without the sequences that colour or move (ECMA-48), and with a picture for every other unseen character. */
export function visible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(UNSEEN, picture);
}

/** What a terminal would show of a line that carriage returns overwrote: its last piece with anything in it. */
export function overwritten(line: string): string {
  if (!line.includes('\r')) return line;
  return line.split('\r').findLast((piece) => piece.trim() !== '') ?? '';
}

/** One line, fit to be shown. */
export function visibleLine(text: string): string {
  const line = overwritten(text);
  const cut = line.length > LINE_MAX_CHARS;
  return `${visible(line.slice(0, LINE_MAX_CHARS)).replaceAll('\n', '\u240a')}${cut ? ` … (${line.length - LINE_MAX_CHARS} more characters)` : ''}`;
}

/** The lines of a text, each fit to be shown; no empty one at the end. */
export function visibleLines(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n').map(visibleLine);
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

const segmenter = new Intl.Segmenter();

/** Columns that a terminal needs for a text without control characters. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

/** As much of `text` as fits into so many columns, with an ellipsis where it was cut. */
export function cutTo(text: string, columns: number): string {
  if (text.length * 2 <= columns || columnsOf(text) <= columns) return text;
  return columns <= 0 ? '' : `${beginning(text, columns - 1)}…`;
}

/** The characters that fit into so many columns. */
function beginning(text: string, columns: number): string {
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += columnsOf(segment);
    if (used > columns) break;
    kept += segment;
  }
  return kept;
}

/** All of `text` in lines of so many columns, broken at spaces where there are any. */
export function wrapTo(text: string, columns: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (columnsOf(rest) > columns) {
    const fits = beginning(rest, columns);
    if (fits === '') break;
    const space = fits.lastIndexOf(' ');
    const line = space > fits.length / 2 && rest[fits.length] !== ' ' ? fits.slice(0, space) : fits;
    lines.push(line);
    rest = rest.slice(line.length).trimStart();
  }
  return [...lines, rest];
}

/** `cutTo`, filled up with spaces. */
export function padTo(text: string, columns: number): string {
  const fitted = cutTo(text, columns);
  return fitted + ' '.repeat(Math.max(0, columns - columnsOf(fitted)));
}

/** `7s`, `3m05s`, `2h04m`, `3d04h`; `-` where there is none to tell. */
export function duration(secs: number | null | undefined): string {
  if (secs === null || secs === undefined || !Number.isFinite(secs)) return '-';
  const whole = Math.max(0, Math.floor(secs));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}m`;
  return `${Math.floor(whole / 86_400)}d${two(Math.floor((whole % 86_400) / 3600))}h`;
}

/** `512 B`, `1.4 MiB`. */
export function size(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '?';
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 'B';
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return unit === 'B' ? `${bytes} B` : `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
