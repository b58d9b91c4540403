import { SCAN_COVERED_MIN } from '../core/limits/scans.ts'
import { type OpenPdfium, type Pdfium, withPages } from './pdfium.ts'

/** Those of the pages of a PDF that are covered by pictures for more than half. */
export const coveredPages = (
  bytes: Uint8Array,
  numbers: readonly number[],
  open: OpenPdfium,
): Promise<number[]> =>
  withPages(open, bytes, (pdfium, page) =>
    numbers.filter((number) => page(number, (one) => covered(pdfium, one)) > SCAN_COVERED_MIN),
  )

/** FPDF_PAGEOBJ_IMAGE and FPDF_PAGEOBJ_FORM. */
const [PICTURE, FORM] = [3, 5]
/** Forms inside each other that are looked into. */
const DEPTH_MAX = 8
const FLOAT_BYTES = 4

/** Which part of a page its pictures cover. Scanners cut a page into strips, so areas are added. */
function covered(pdfium: Pdfium, page: number): number {
  const { calls } = pdfium
  const box = floats(pdfium, (at) => calls.FPDF_GetPageBoundingBox(page, at))
  if (!box) return 0
  const [left, top, right, bottom] = box
  let area = 0
  for (let i = 0; i < calls.FPDFPage_CountObjects(page); i++) {
    const object = calls.FPDFPage_GetObject(page, i)
    if (!hasPicture(pdfium, object, DEPTH_MAX)) continue
    const bounds = floats(pdfium, (at) => {
      const [b, r, t] = [1, 2, 3].map((n) => at + n * FLOAT_BYTES) as [number, number, number]
      return calls.FPDFPageObj_GetBounds(object, at, b, r, t)
    })
    if (!bounds) continue
    const width = Math.min(bounds[2], right) - Math.max(bounds[0], left)
    const height = Math.min(bounds[3], top) - Math.max(bounds[1], bottom)
    area += Math.max(0, width) * Math.max(0, height)
  }
  return area / ((right - left) * (top - bottom))
}

/** Whether an object is a picture, or a form with one inside. */
function hasPicture(pdfium: Pdfium, object: number, depth: number): boolean {
  const { calls } = pdfium
  const type = calls.FPDFPageObj_GetType(object)
  if (type !== FORM || depth === 0) return type === PICTURE
  const count = calls.FPDFFormObj_CountObjects(object)
  for (let i = 0; i < count; i++) {
    if (hasPicture(pdfium, calls.FPDFFormObj_GetObject(object, i), depth - 1)) return true
  }
  return false
}

type Four = readonly [number, number, number, number]

/** Four numbers as `write` leaves them; null when it cannot tell them. */
function floats({ calls, memory }: Pdfium, write: (at: number) => number): Four | null {
  const at = calls.malloc(4 * FLOAT_BYTES)
  try {
    if (write(at) === 0) return null
    const view = new DataView(memory().buffer, at, 4 * FLOAT_BYTES)
    return [0, 1, 2, 3].map((n) => view.getFloat32(n * FLOAT_BYTES, true)) as unknown as Four
  } finally {
    calls.free(at)
  }
}
