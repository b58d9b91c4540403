import type { zhAnswer } from './answer-zh.ts'

/** What the blocks of an answer say, in English: in the console and on the page of visitors. */
export const enAnswer: Readonly<Record<keyof typeof zhAnswer, string>> = {
  'copy.action': 'Copy',
  'copy.done': 'Copied',
  'copy.failed': 'The browser did not allow copying. Select the text by hand.',
  'copy.what': 'Copy: {what}',
  'home.done': 'Done',
  'home.undone': 'Not done yet',
  'studio.picture': 'a picture on {host}, opens there',
  'code.download': 'Download the code',
  'code.wrap': 'Wrap long lines',
  'draw.code': 'Show the code',
  'draw.draw': 'Draw',
  'draw.failed': 'This cannot be drawn: {line}',
  'draw.full': 'Full screen',
  'draw.left': 'Stopped: it tried to open another page.',
  'draw.page': 'Page that the answer has written',
  'draw.png': 'Download the drawing as PNG',
  'draw.run': 'Run',
  'draw.silent': 'Stopped: it did not answer for 5 seconds.',
  'draw.stop': 'Stop',
  'draw.svg': 'Download the drawing as SVG',
  'draw.title': 'Drawing ({kind}); its code can be shown',
  'draw.unreadable': 'the browser cannot read the drawing',
  'draw.unwalled':
    'Not run: this browser cannot keep the page inside its frame. Update it to run pages.',
  'table.csv': 'table as CSV',
}
