const newline = 0x0a;

/** Cuts a byte stream into lines. A line may span any number of chunks, and a chunk may end inside a character. */
export class LineSplitter {
  #rest: Uint8Array[] = [];

  /** The lines completed by this chunk, without their newlines. Empty lines are omitted. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#take(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    return lines;
  }

  /** Whether the stream is inside a line, so that ending now would cut it. */
  get midLine(): boolean {
    return this.#rest.length > 0;
  }

  #take(tail: Uint8Array): string {
    const whole = this.#rest.length === 0 ? tail : Buffer.concat([...this.#rest, tail]);
    this.#rest = [];
    return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8').trimEnd();
  }
}
