/** PDFium, opened where a page is looked at or drawn. */
export type OpenPdfium = () => Promise<Pdfium>

/** The functions of PDFium's C interface that are used here (fpdfview.h, fpdf_edit.h). */
export interface PdfiumExports {
  malloc(bytes: number): number
  free(at: number): void
  FPDF_InitLibrary(): void
  /** 0 for a file that cannot be read. */
  FPDF_LoadMemDocument(at: number, bytes: number, password: number): number
  FPDF_CloseDocument(document: number): void
  FPDF_LoadPage(document: number, index: number): number
  FPDF_ClosePage(page: number): void
  FPDF_GetPageWidth(page: number): number
  FPDF_GetPageHeight(page: number): number
  /** Writes left, top, right and bottom. */
  FPDF_GetPageBoundingBox(page: number, rectangle: number): number
  FPDFPage_CountObjects(page: number): number
  FPDFPage_GetObject(page: number, index: number): number
  FPDFPageObj_GetType(object: number): number
  FPDFPageObj_GetBounds(
    object: number,
    left: number,
    bottom: number,
    right: number,
    top: number,
  ): number
  FPDFFormObj_CountObjects(form: number): number
  FPDFFormObj_GetObject(form: number, index: number): number
  FPDFBitmap_CreateEx(
    width: number,
    height: number,
    format: number,
    at: number,
    stride: number,
  ): number
  FPDFBitmap_FillRect(
    bitmap: number,
    left: number,
    top: number,
    width: number,
    height: number,
    color: number,
  ): void
  FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    left: number,
    top: number,
    width: number,
    height: number,
    rotation: number,
    flags: number,
  ): void
  FPDFBitmap_Destroy(bitmap: number): void
}

export interface Pdfium {
  readonly calls: PdfiumExports
  /** Its memory as it is now; it may be another after any call. */
  readonly memory: () => Uint8Array<ArrayBuffer>
}

/** Gives `work` the pages of a file by their numbers, from 1. Throws for one that is damaged. */
export async function withPages<Result>(
  open: OpenPdfium,
  bytes: Uint8Array,
  work: (pdfium: Pdfium, page: <Of>(number: number, look: (page: number) => Of) => Of) => Result,
): Promise<Result> {
  const pdfium = await open()
  const { calls, memory } = pdfium
  const at = calls.malloc(bytes.length)
  if (at === 0) throw new Error('no memory for the file')
  memory().set(bytes, at)
  const document = calls.FPDF_LoadMemDocument(at, bytes.length, 0)
  try {
    if (document === 0) throw new Error('PDFium cannot read the file')
    return work(pdfium, (number, look) => {
      const page = calls.FPDF_LoadPage(document, number - 1)
      if (page === 0) throw new Error('PDFium cannot read the page')
      try {
        return look(page)
      } finally {
        calls.FPDF_ClosePage(page)
      }
    })
  } finally {
    if (document !== 0) calls.FPDF_CloseDocument(document)
    calls.free(at)
  }
}
