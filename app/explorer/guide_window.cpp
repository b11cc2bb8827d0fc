#include "app/explorer/guide_window.h"

#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/io/file.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kContentsWidth = 150, kPageRole = Qt::UserRole;
const QString kIndex = QStringLiteral("index");

QToolButton* page_button(const QString& text, const QString& keys, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setAutoRaise(true);
  button->setShortcut(QKeySequence(keys));
  button->setToolTip(QKeySequence(keys).toString(QKeySequence::NativeText));
  return button;
}

}  // namespace

QString guide_folder() {
  return text((home_directory() / "resources" / "help" / "guide").string());
}

std::vector<std::pair<QString, QString>> guide_pages(const QString& folder) {
  std::vector<std::pair<QString, QString>> pages;
  QFile index(folder + QStringLiteral("/index.md"));
  if (!index.open(QIODevice::ReadOnly)) return pages;
  static const QRegularExpression link(QStringLiteral(R"(\[([^\]]+)\]\(([\w-]+)\.md\))"));
  auto found = link.globalMatch(QString::fromUtf8(index.readAll()));
  while (found.hasNext()) {
    const auto match = found.next();
    const std::pair<QString, QString> page(match.captured(2), match.captured(1));
    const auto same = [&](const auto& known) { return known.first == page.first; };
    if (std::none_of(pages.begin(), pages.end(), same)) pages.push_back(page);
  }
  return pages;
}

GuideBrowser::GuideBrowser(QString folder, QWidget* parent)
    : QTextBrowser(parent), folder_(std::move(folder)) {
  setOpenExternalLinks(false);
  setFrameShape(QFrame::NoFrame);
  document()->setDocumentMargin(4 * style::kGrid);
}

void GuideBrowser::show_page(const QString& page) {
  const QString file = folder_ + QLatin1Char('/') + page + QStringLiteral(".md");
  if (QFileInfo::exists(file)) {
    setSource(QUrl::fromLocalFile(file));
  } else if (page != kIndex) {
    show_page(kIndex);
  } else {
    setPlainText(tr("The guide is not here: %1 is missing. Install the program again, "
                    "or set STRATOSCOPE_HOME to the folder that has resources/.")
                     .arg(file));
  }
}

QString GuideBrowser::page() const { return QFileInfo(source().path()).completeBaseName(); }

QVariant GuideBrowser::loadResource(int type, const QUrl& name) {
  const QUrl url = source().resolved(name);
  const QString inside = QFileInfo(folder_).canonicalFilePath();
  const QString file = QFileInfo(url.toLocalFile()).canonicalFilePath();
  // Pictures may lie beside the folder of pages, nothing further away.
  if (file.isEmpty() || !file.startsWith(QFileInfo(inside).path() + QLatin1Char('/'))) return {};
  if (type == QTextDocument::ImageResource) return picture(QUrl::fromLocalFile(file));
  return QTextBrowser::loadResource(type, url);
}

QImage GuideBrowser::picture(const QUrl& name) const {
  QString file = name.toLocalFile();
  if (style::is_dark(palette())) {
    const QFileInfo info(file);
    const QString dark = info.path() + QLatin1Char('/') + info.completeBaseName() +
                         QStringLiteral("-dark.") + info.suffix();
    if (QFileInfo::exists(dark)) file = dark;
  }
  QImage image(file);
  const int most = std::max(200, viewport()->width() - 12 * style::kGrid);
  if (image.width() <= most) return image;
  const qreal ratio = devicePixelRatioF();
  image = image.scaledToWidth(std::min(image.width(), static_cast<int>(most * ratio)),
                              Qt::SmoothTransformation);
  image.setDevicePixelRatio(static_cast<qreal>(image.width()) / most);
  return image;
}

// The document keeps pictures: it is read again for those of another width or colour.
void GuideBrowser::show_again() {
  if (source().isEmpty()) return;
  const int at = verticalScrollBar()->value();
  reload();
  verticalScrollBar()->setValue(at);
}

void GuideBrowser::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  if (viewport()->width() == shown_width_) return;
  shown_width_ = viewport()->width();
  show_again();
}

void GuideBrowser::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show_again();
}

GuideWindow::GuideWindow(QWidget* parent)
    : QDialog(parent),
      contents_(new QListWidget(this)),
      browser_(new GuideBrowser(guide_folder(), this)) {
  setWindowTitle(tr("Guide"));
  resize(900, 680);
  setSizeGripEnabled(true);
  contents_->setFrameShape(QFrame::NoFrame);
  contents_->setAccessibleName(tr("Pages of the guide"));
  auto* back = page_button(tr("Back"), QStringLiteral("Alt+Left"), this);
  auto* forward = page_button(tr("Forward"), QStringLiteral("Alt+Right"), this);
  auto* start = page_button(tr("Overview"), QStringLiteral("Alt+Home"), this);
  connect(back, &QToolButton::clicked, browser_, &QTextBrowser::backward);
  connect(forward, &QToolButton::clicked, browser_, &QTextBrowser::forward);
  connect(start, &QToolButton::clicked, this, [this] { show_page(kIndex); });
  connect(browser_, &QTextBrowser::backwardAvailable, back, &QWidget::setEnabled);
  connect(browser_, &QTextBrowser::forwardAvailable, forward, &QWidget::setEnabled);
  back->setEnabled(false);
  forward->setEnabled(false);
  auto* buttons = new QHBoxLayout;
  for (QToolButton* button : {back, forward, start}) buttons->addWidget(button);
  buttons->addStretch(1);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(contents_);
  splitter->addWidget(browser_);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({kContentsWidth, 750});
  splitter->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 2 * style::kGrid);
  layout->addLayout(buttons);
  layout->addWidget(splitter, 1);
  fill_contents();
}

void GuideWindow::fill_contents() {
  const auto add = [this](const QString& page, const QString& title) {
    auto* item = new QListWidgetItem(title, contents_);
    item->setData(kPageRole, page);
  };
  add(kIndex, tr("Overview"));
  for (const auto& [page, title] : guide_pages(guide_folder())) add(page, title);
  connect(contents_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (!item) return;
    const QString page = item->data(kPageRole).toString();
    if (page != browser_->page()) browser_->show_page(page);
  });
  connect(browser_, &QTextBrowser::sourceChanged, this, [this] {
    for (int row = 0; row < contents_->count(); ++row) {
      if (contents_->item(row)->data(kPageRole).toString() == browser_->page()) {
        contents_->setCurrentRow(row);
      }
    }
  });
}

void GuideWindow::show_page(const QString& page) { browser_->show_page(page); }

}  // namespace strato
