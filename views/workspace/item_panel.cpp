#include "views/workspace/item_panel.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "views/style/own_escape.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/workspace/strategy_pictures.h"

namespace strato {
namespace {

constexpr int kPictureHeight = 12 * style::kGrid;
constexpr int kStoreAfter = 700;  // ms without a key

}  // namespace

ItemPanel::ItemPanel(Session& session, WorkspaceModel& model, StrategyPictures& pictures,
                     QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(model),
      pictures_(pictures),
      picture_(new QLabel(this)),
      lineage_(new QLabel(this)),
      error_(new QLabel(this)),
      tags_(new QLineEdit(this)),
      note_(new QPlainTextEdit(this)) {
  picture_->setFixedHeight(kPictureHeight);
  picture_->setMinimumWidth(1);
  picture_->setToolTip(
      tr("Which devices (rows) each op group (columns) runs on: paler for smaller "
         "shares, checkered for parameter servers"));
  lineage_->setWordWrap(true);
  lineage_->setTextFormat(Qt::RichText);
  lineage_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  error_->setWordWrap(true);
  tags_->setPlaceholderText(tr("Tags (T)"));
  tags_->setAccessibleName(tr("Tags"));
  tags_->setToolTip(tr("Words between spaces; \"tag:word\" above finds them again"));
  note_->setPlaceholderText(tr("Note (N)"));
  note_->setAccessibleName(tr("Note"));
  note_->setTabChangesFocus(true);
  note_->setFixedHeight(note_->fontMetrics().lineSpacing() * 3 + 2 * style::kGrid + 4);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(style::kGrid, style::kGrid, style::kGrid, style::kGrid);
  column->setSpacing(style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{picture_, lineage_, tags_, error_, note_})
    column->addWidget(widget);
  tags_->installEventFilter(this);
  note_->installEventFilter(this);
  store_later_.setSingleShot(true);
  store_later_.setInterval(kStoreAfter);
  connect(&store_later_, &QTimer::timeout, this, &ItemPanel::store);
  connect(tags_, &QLineEdit::textEdited, this, &ItemPanel::typed);
  connect(tags_, &QLineEdit::editingFinished, this, &ItemPanel::store);
  connect(note_, &QPlainTextEdit::textChanged, this, &ItemPanel::typed);
  connect(lineage_, &QLabel::linkActivated, this, [this](const QString& link) {
    const QStringList parts = link.split(QLatin1Char('/'));
    if (parts.size() == 2) emit wanted(parts[0].toInt(), parts[1].toLongLong());
  });
  connect(&model_, &QAbstractItemModel::modelReset, this, &ItemPanel::refresh);
  connect(&model_, &QAbstractItemModel::dataChanged, this, &ItemPanel::refresh);
  connect(&session_, &Session::failed, this, [this] { sent_.clear(); });  // perhaps it was this
  connect(&pictures_, &StrategyPictures::made, this, [this](StrategyRow strategy) {
    if (strategy == index().data(WorkspaceModel::PictureRole).toLongLong()) refresh_picture();
  });
  hide();
}

void ItemPanel::show_item(WorkspaceModel::Kind kind, std::int64_t row) {
  if (kind == kind_ && row == row_ && file_ == open_file()) return;
  store();
  if (changed_) emit session_.message(what_is_typed().error);
  file_ = open_file();
  kind_ = kind;
  row_ = row;
  changed_ = false;
  fresh_ = true;
  show_error({});
  refresh();
}

void ItemPanel::typed() {
  if (index().isValid()) {
    changed_ = true;
    store_later_.start();
  }
}

void ItemPanel::store() {
  store_later_.stop();
  if (!std::exchange(changed_, false)) return;
  if (file_ != open_file()) return store_elsewhere();
  if (!index().isValid()) return;
  const Typed typed = what_is_typed();
  const QString error = model_.annotate(index(), typed.said.tags, typed.said.note);
  if (error.isEmpty()) sent_[{kind_, row_}] = typed.said;
  show_error(error.isEmpty() ? typed.error : error);
  changed_ = !typed.error.isEmpty();  // another word mends it
}

ItemPanel::Typed ItemPanel::what_is_typed() const {
  Typed typed{{{}, note_->toPlainText().trimmed()}, {}};
  std::string good;
  static const QRegularExpression between(QStringLiteral("[\\s,;]+"));
  for (const QString& word : tags_->text().split(between, Qt::SkipEmptyParts)) {
    try {
      for (const std::string& tag : parse_tags(word.toStdString())) good += tag + " ";
    } catch (const InputError& error) {
      typed.error = tr("Not kept as a tag: %1").arg(text(error.what()));
    }
  }
  typed.said.tags = text(tags_text(parse_tags(good)));
  return typed;
}

std::filesystem::path ItemPanel::open_file() const {
  return session_.workspace() ? session_.workspace()->file() : std::filesystem::path();
}

// Another workspace was opened while one was writing: what was typed belongs to the one before.
void ItemPanel::store_elsewhere() {
  const Typed typed = what_is_typed();
  if (!typed.error.isEmpty()) emit session_.message(typed.error);
  const StoredItem item{static_cast<StoredKind>(static_cast<int>(kind_) - 1),
                        row_};  // after Section
  const Annotation said{parse_tags(typed.said.tags.toStdString()), typed.said.note.toStdString()};
  session_.in_workspace(
      [item, said](Workspace& workspace) { workspace.annotations().set(item, said); }, file_);
}

void ItemPanel::show_error(const QString& error) {
  error_->setText(error);
  error_->setVisible(!error.isEmpty());
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, style::infeasible(style::is_dark(palette())));
  error_->setPalette(colours);
}

void ItemPanel::write_tags() {
  if (!isVisibleTo(parentWidget())) return;
  tags_->setFocus();
  tags_->end(false);
}

void ItemPanel::write_note() {
  if (!isVisibleTo(parentWidget())) return;
  note_->setFocus();
  note_->moveCursor(QTextCursor::End);
}

// A field that a person writes in, or that is not stored yet, stays as it is.
void ItemPanel::refresh() {
  if (file_ != open_file()) {  // rows of another workspace are other things
    store();
    sent_.clear();
    kind_ = WorkspaceModel::Kind::Section;
  }
  const QModelIndex item = index();
  setVisible(item.isValid());
  if (!item.isValid()) {
    changed_ = false;
    store_later_.stop();
    return;
  }
  const auto put = [this](QWidget* field, const QString& now, const QString& wanted, auto set) {
    if (changed_ || now == wanted || (field->hasFocus() && !fresh_)) return;
    const QSignalBlocker blocker(field);
    set(wanted);
  };
  const Said said = what_is_said(item);
  put(tags_, tags_->text(), said.tags, [this](const QString& text) { tags_->setText(text); });
  put(note_, note_->toPlainText(), said.note,
      [this](const QString& text) { note_->setPlainText(text); });
  fresh_ = false;
  lineage_->setText(lineage());
  lineage_->setVisible(!lineage_->text().isEmpty());
  refresh_picture();
}

// What was typed just now counts before it is stored: else what stood there before would come back,
// and be stored with the next word.
ItemPanel::Said ItemPanel::what_is_said(const QModelIndex& item) {
  const Said stored{item.data(WorkspaceModel::TagsRole).toStringList().join(QLatin1Char(' ')),
                    item.data(WorkspaceModel::NoteRole).toString()};
  const auto sent = sent_.find({kind_, row_});
  if (sent == sent_.end()) return stored;
  if (sent->second != stored) return sent->second;
  sent_.erase(sent);
  return stored;
}

QString ItemPanel::lineage() const {
  QStringList parts;
  for (const WorkspaceModel::Ancestor& from : model_.lineage(index())) {
    if (from.cut) parts << QStringLiteral("…");
    parts << QStringLiteral("<a href=\"%1/%2\">%3</a>")
                 .arg(static_cast<int>(from.kind))
                 .arg(from.row)
                 .arg(from.name.left(60).toHtmlEscaped());
  }
  return parts.isEmpty() ? QString() : tr("From %1").arg(parts.join(QStringLiteral(" › ")));
}

void ItemPanel::refresh_picture() {
  const auto strategy = index().data(WorkspaceModel::PictureRole).toLongLong();
  const bool room = parentWidget() == nullptr || parentWidget()->height() >= 100 * style::kGrid;
  picture_->setVisible(strategy > 0 && room);
  if (strategy == 0 || !room || !isVisibleTo(parentWidget())) return;
  const double ratio = devicePixelRatioF();
  const int width = std::max(16, (this->width() - 2 * style::kGrid) / 16 * 16);  // few sizes
  const QImage image =
      pictures_.picture(strategy, QSize(width, kPictureHeight) * ratio, style::is_dark(palette()));
  QPixmap pixmap = QPixmap::fromImage(image);
  pixmap.setDevicePixelRatio(ratio);
  picture_->setPixmap(pixmap);
}

void ItemPanel::hideEvent(QHideEvent* event) {
  store();
  QWidget::hideEvent(event);
}

void ItemPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refresh_picture();
}

void ItemPanel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh_picture();
  QWidget::changeEvent(event);
}

bool ItemPanel::eventFilter(QObject* watched, QEvent* event) {
  if (is_own_escape(*event)) {
    event->accept();
    return true;
  }
  const bool key = event->type() == QEvent::KeyPress;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    store();
    emit left();
    return true;
  }
  if (watched == note_ && event->type() == QEvent::FocusOut) store();
  return QWidget::eventFilter(watched, event);
}

}  // namespace strato
