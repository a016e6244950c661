import {z} from 'zod';

// No control, format or invisible characters.
const printable =
  /^[ -~\u00a1-\u00ac\u00ae-\u061b\u061d-\u180d\u180f-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ufefe\uff00-\ufff8]+$/;
/** The name that the platform has for its user: the page shows it, and the log has it. */
export const subject = z
  .string()
  .max(200)
  .regex(printable, 'must be 1 to 200 printable characters')
  .describe("The platform's own name for its user. The page and the log show it.");
