// Limits of pages that a model reads, because they have no text.
/** A picture that is read as a document. */
export const SCAN_PICTURE_BYTES_MAX = 10 * 1024 * 1024
/** A page with fewer letters, and a picture over this part of it, is a scan. */
export const SCAN_LETTERS_MIN = 20
export const SCAN_COVERED_MIN = 0.5
/** The longer side of a page as a model sees it, in pixels. */
export const SCAN_SIDE_MAX = 1_600
/** Pages of a tenant that models read at the same time, on all servers, and the time for each. */
export const SCANS_AT_ONCE = 2
export const SCAN_MS_MAX = 60_000
/** After this time a server asks again for a slot that another one has. */
export const SCAN_TURN_MS = 250
/** How long a file that has failed with scanned pages can be read again. */
export const SCAN_SPOOLED_HOURS = 24
