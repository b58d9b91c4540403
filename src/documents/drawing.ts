import { PICTURE_PIXELS_MAX } from '../core/limits/machine.ts'
import { type OpenPdfium, type Pdfium, withPages } from './pdfium.ts'

/** Of the JPEG: thin strokes of small letters stay legible. */
const QUALITY = 85

/** A page of a PDF as JPEG, whose longer side has `sideMax` pixels. Throws for a damaged file. */
export async function drawPage(
  bytes: Uint8Array,
  number: number,
  sideMax: number,
  open: OpenPdfium,
): Promise<Uint8Array> {
  const bitmap = await withPages(open, bytes, (pdfium, page) =>
    page(number, (one) => bitmapOf(pdfium, one, sideMax)),
  )
  return await new Bun.Image(bitmap).jpeg({ quality: QUALITY }).bytes()
}

/**
 * A PNG, JPEG or WebP as JPEG with sides of at most `sideMax` pixels, upright and without what a
 * camera has noted, such as a place. Throws for a damaged one, and for one of too many pixels.
 */
export const drawPicture = (bytes: Uint8Array, sideMax: number): Promise<Uint8Array> =>
  new Bun.Image(bytes, { maxPixels: PICTURE_PIXELS_MAX })
    .resize(sideMax, sideMax, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .bytes()

/** FPDFBitmap_BGR, which is what a bitmap file has; FPDF_ANNOT draws stamps and filled fields. */
const [BGR, BYTES_PER_PIXEL, WITH_ANNOTATIONS, WHITE] = [2, 3, 1, 0xffffffff]

/** A page as a bitmap file, white where nothing is drawn. */
function bitmapOf({ calls, memory }: Pdfium, page: number, sideMax: number): Uint8Array {
  const [w, h] = [calls.FPDF_GetPageWidth(page), calls.FPDF_GetPageHeight(page)]
  const scale = sideMax / Math.max(w, h)
  if (!(scale > 0 && Number.isFinite(scale))) throw new Error('the page has no size')
  const [width, height] = [w, h].map((side) => Math.max(1, Math.round(side * scale))) as [
    number,
    number,
  ]
  const stride = Math.ceil((width * BYTES_PER_PIXEL) / 4) * 4
  const at = calls.malloc(stride * height)
  if (at === 0) throw new Error('no memory for the page')
  const bitmap = calls.FPDFBitmap_CreateEx(width, height, BGR, at, stride)
  try {
    calls.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)
    calls.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS)
    return bitmapFile(memory().subarray(at, at + stride * height), width, height)
  } finally {
    calls.FPDFBitmap_Destroy(bitmap)
    calls.free(at)
  }
}

const FILE_HEADER_BYTES = 14
const INFO_HEADER_BYTES = 40

/** A Windows bitmap of 24 bits a pixel; a negative height says that its first row is the upper. */
function bitmapFile(rows: Uint8Array, width: number, height: number): Uint8Array {
  const start = FILE_HEADER_BYTES + INFO_HEADER_BYTES
  const file = Buffer.alloc(start + rows.length)
  file.write('BM')
  file.writeUInt32LE(file.length, 2)
  file.writeUInt32LE(start, 10)
  file.writeUInt32LE(INFO_HEADER_BYTES, 14)
  file.writeInt32LE(width, 18)
  file.writeInt32LE(-height, 22)
  file.writeUInt16LE(1, 26)
  file.writeUInt16LE(8 * BYTES_PER_PIXEL, 28)
  file.set(rows, start)
  return file
}
