// The guide: pages of resources/help/guide in a window of their own, contents at the left. Nothing
// is read from elsewhere.
#pragma once

#include <QDialog>
#include <QTextBrowser>
#include <utility>
#include <vector>

class QListWidget;

namespace strato {

QString guide_folder();

// Shows pages of one folder: their pictures as wide as there is room, in the window's colours
// ("NAME-dark.png" where the window is dark and there is one).
class GuideBrowser : public QTextBrowser {
  Q_OBJECT
 public:
  explicit GuideBrowser(QString folder, QWidget* parent = nullptr);
  void show_page(const QString& page);  // "timeline"; one that is not there is "index"
  QString page() const;

 protected:
  QVariant loadResource(int type, const QUrl& name) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  QImage picture(const QUrl& name) const;
  void show_again();

  const QString folder_;
  int shown_width_ = 0;
};

class GuideWindow : public QDialog {
  Q_OBJECT
 public:
  explicit GuideWindow(QWidget* parent = nullptr);
  void show_page(const QString& page);
  GuideBrowser& browser() { return *browser_; }

 private:
  void fill_contents();

  QListWidget* contents_;
  GuideBrowser* browser_;
};

// The pages that the index links to, in its order: (page, title). Empty when it cannot be read.
std::vector<std::pair<QString, QString>> guide_pages(const QString& folder);

}  // namespace strato
