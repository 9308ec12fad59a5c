"""Makes the documents of these tests. Run once, in this folder; the files are kept in the repository.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install python-docx==1.2.0 python-pptx==1.0.2 openpyxl odfpy reportlab pypdf cryptography
    /tmp/v/bin/python make.py
"""
import io
import datetime

import docx
import openpyxl
import pptx
from odf import opendocument, table, teletype, text
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas


def pdf(pages, draw):
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=A4, invariant=1)
    for number in range(1, pages + 1):
        draw(page, number)
        page.showPage()
    page.save()
    return out.getvalue()


def report(page, number):
    page.setFont("Helvetica", 12)
    page.drawString(72, 780, f"Quarterly report, part {number}")
    for line in range(20):
        page.drawString(72, 750 - 14 * line, f"Line {line + 1} of part {number}: the river rose by {number * line} cm.")
    page.drawString(72, 72, f"canary-page-{number}")


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


whole = pdf(30, report)
write("report.pdf", whole)
write("truncated.pdf", whole[: len(whole) // 3])
write("scanned.pdf", pdf(3, lambda page, number: page.rect(100, 100, 300, 500, fill=1)))
locked = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(2, report))))
locked.encrypt("a password", "another", algorithm="AES-256")
locked.write("locked.pdf")
unprintable = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(2, report))))
unprintable.encrypt("", "another", algorithm="AES-128")
unprintable.write("unprintable.pdf")

document = docx.Document()
document.add_heading("Minutes of the river board", 0)
document.add_heading("Decisions", 1)
document.add_paragraph("The dam is raised & the canary-docx sings < 3 times.")
document.add_paragraph("first point", style="List Bullet")
document.add_paragraph("second point", style="List Bullet")
grid = document.add_table(rows=2, cols=2)
for row, values in zip(grid.rows, [("Name", "Vote"), ("Ada | Bo", "yes")]):
    for cell, value in zip(row.cells, values):
        cell.text = value
document.add_paragraph("会议结束。")
document.save("minutes.docx")

deck = pptx.Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[1])
slide.shapes.title.text = "Plan for spring"
slide.placeholders[1].text = "canary-pptx\nsecond line"
slide.notes_slide.notes_text_frame.text = "Say this slowly."
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Numbers"
cells = slide.shapes.add_table(2, 2, 0, 0, 4000000, 1000000).table
for row, values in enumerate([("Year", "Level"), ("2026", "4.2")]):
    for column, value in enumerate(values):
        cells.cell(row, column).text = value
deck.save("plan.pptx")

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Levels"
sheet.append(["Day", "Level", "Note"])
sheet.append([datetime.date(2026, 1, 31), 4.25, "canary-xlsx"])
sheet.append([datetime.datetime(2026, 2, 1, 12, 30), True, "a|b"])
sheet["F9"] = "far away"
long = book.create_sheet("Long")
for number in range(2500):
    long.append([number, number * number])
book.save("levels.xlsx")

letter = opendocument.OpenDocumentText()
letter.text.addElement(text.H(outlinelevel=2, text="A letter"))
paragraph = text.P()
teletype.addTextToElement(paragraph, "Dear all,   canary-odt\tgreets you.")
letter.text.addElement(paragraph)
points = text.List()
for said in ("one", "two"):
    item = text.ListItem()
    item.addElement(text.P(text=said))
    points.addElement(item)
letter.text.addElement(points)
letter.save("letter.odt")

sums = opendocument.OpenDocumentSpreadsheet()
sheet = table.Table(name="Sums")
for values in [("a", "b"), ("1", "canary-ods")]:
    row = table.TableRow()
    for value in values:
        cell = table.TableCell()
        cell.addElement(text.P(text=value))
        row.addElement(cell)
    sheet.addElement(row)
sheet.addElement(table.TableRow(numberrowsrepeated="1048570"))
sums.spreadsheet.addElement(sheet)
sums.save("sums.ods")


def raw(objects):
    """A PDF of these objects, numbered from 1, the first being its catalogue."""
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def stream(words, content):
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (words, len(content), content)


# A drawing that draws itself: a reader without a limit runs out of its stack.
page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>"
own = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
write("endless.pdf", raw([
    b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page,
    stream(b"", b"/X Do"), stream(own, b"/X Do /X Do"),
]))
# A font that is no font: the reader gives up in the middle of the page.
page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
write("panics.pdf", raw([
    b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page,
    stream(b"", b"BT /F 12 Tf (words) Tj ET"), b"<< /Type /Font /Subtype /Type0 /Encoding 7 >>",
]))
