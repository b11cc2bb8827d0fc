// Markdown of lessons as a widget that grows with its dock.
#pragma once

#include <QTextBrowser>

namespace strato {

class LessonText : public QTextBrowser {
 public:
  explicit LessonText(QWidget* parent = nullptr);
  void show_markdown(const QString& markdown);  // keeps the place where it was scrolled to

 private:
  QString shown_;
};

}  // namespace strato
