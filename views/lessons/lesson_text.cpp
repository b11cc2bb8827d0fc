#include "views/lessons/lesson_text.h"

#include <QScrollBar>

#include "views/style/style.h"

namespace strato {

LessonText::LessonText(QWidget* parent) : QTextBrowser(parent) {
  setFrameShape(QFrame::NoFrame);
  setOpenLinks(false);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  document()->setDocumentMargin(style::kGrid);
  viewport()->setAutoFillBackground(false);
}

void LessonText::show_markdown(const QString& markdown) {
  if (markdown == shown_) return;
  shown_ = markdown;
  const int at = verticalScrollBar()->value();
  setMarkdown(markdown);
  verticalScrollBar()->setValue(at);
}

}  // namespace strato
