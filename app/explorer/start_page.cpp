#include "app/explorer/start_page.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>

#include "app/explorer/open_files.h"
#include "core/base/error.h"
#include "core/io/samples.h"
#include "views/style/list_table.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kPathRole = Qt::UserRole, kKindRole = Qt::UserRole + 1;

// Those that people know; the others are below "More".
constexpr std::array<std::string_view, 7> kKnownModels = {
    "llama3_8b", "mixtral_8x7b", "gpt2_medium", "bert_large", "transformer", "resnet101", "vgg19"};
constexpr std::array<std::string_view, 6> kKnownClusters = {
    "h100-2x8", "h100-128x8", "a100-64x8", "gb200-nvl72-8", "mixed-a100-l40s", "tag-testbed"};

QLabel* make_heading(const QString& words, QWidget* parent, double size = 1) {
  auto* heading = new QLabel(words, parent);
  QFont font = heading->font();
  font.setPointSizeF(font.pointSizeF() * size);
  font.setWeight(QFont::DemiBold);
  heading->setFont(font);
  heading->setWordWrap(true);
  return heading;
}

// A column of the page: its heading and what is below it.
QWidget* make_column(const QString& heading, QWidget* list, QWidget* below, QWidget* parent) {
  auto* column = new QWidget(parent);
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2 * style::kGrid);
  layout->addWidget(make_heading(heading, column));
  layout->addWidget(list, 1);
  if (below) layout->addWidget(below, 0, Qt::AlignLeft);
  return column;
}

QString word_of(FileKind kind) {
  switch (kind) {
    case FileKind::Model:
      return StartPage::tr("model");
    case FileKind::Cluster:
      return StartPage::tr("cluster");
    case FileKind::Plan:
      return StartPage::tr("plan");
    case FileKind::Profile:
      return StartPage::tr("profile");
    case FileKind::Calibration:
      return StartPage::tr("calibration");
    case FileKind::Workspace:
      return StartPage::tr("workspace");
    case FileKind::Trace:
      return StartPage::tr("trace");
  }
  return {};
}

// Nothing of a file that is no longer what it was, or whose kind takes long to tell.
QString kind_word(const PluginRegistry& plugins, const QString& file) {
  constexpr qint64 kMostLookedInto = qint64{1} << 20;
  const QFileInfo info(file);
  if (info.suffix() == QStringLiteral("json") && info.size() > kMostLookedInto) return {};
  try {
    return word_of(kind_of(plugins, file));
  } catch (const InputError&) {
    return {};
  }
}

QString short_path(const QString& file) {
  const QString home = QDir::homePath();
  return file.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + file.mid(home.size()) : file;
}

QTreeWidgetItem* add_heading_item(QTreeWidget& tree, const QString& words) {
  auto* heading = new QTreeWidgetItem(&tree, {words});
  heading->setFlags(Qt::ItemIsEnabled);
  QFont font = tree.font();
  font.setWeight(QFont::DemiBold);
  heading->setFont(0, font);
  heading->setExpanded(true);
  return heading;
}

void add_sample(QTreeWidgetItem& below, const QString& name, const QString& path, FileKind kind) {
  auto* item = new QTreeWidgetItem(&below, {name});
  item->setData(0, kPathRole, path);
  item->setData(0, kKindRole, static_cast<int>(kind));
  item->setToolTip(0, path);
}

void add_samples_of(QTreeWidget& tree, const QString& words, const SampleFolder& folder,
                    std::span<const std::string_view> known, FileKind kind) {
  QTreeWidgetItem* heading = add_heading_item(tree, words);
  const std::vector<std::string> names = sample_names(folder);
  const auto add = [&](QTreeWidgetItem& below, std::string_view name) {
    add_sample(below, text(name), text(sample_path(folder, std::string(name)).string()), kind);
  };
  for (const std::string_view name : known)
    if (std::ranges::find(names, name) != names.end()) add(*heading, name);
  auto* more = new QTreeWidgetItem(heading, {StartPage::tr("More")});
  more->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end()) add(*more, name);
}

}  // namespace

StartPage::StartPage(const PluginRegistry& plugins, QWidget* parent)
    : QWidget(parent),
      plugins_(plugins),
      recent_(new QTableWidget(0, 2, this)),
      samples_(new QTreeWidget(this)),
      return_(new QPushButton(this)) {
  auto* top = new QHBoxLayout;
  top->addWidget(
      make_heading(tr("Find out how fast a model trains on a cluster, and why not faster"), this,
                   1.4),
      1);
  return_->setAutoDefault(true);
  return_->setText(tr("Back to the Views"));
  return_->hide();
  top->addWidget(return_, 0, Qt::AlignTop);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(6 * style::kGrid);
  columns->addWidget(build_recent(), 3);
  columns->addWidget(build_samples(), 2);
  form_ = new PlanForm(this);  // after the lists, for Tab
  columns->addWidget(form_, 3);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6 * style::kGrid, 4 * style::kGrid, 6 * style::kGrid,
                             4 * style::kGrid);
  layout->setSpacing(4 * style::kGrid);
  layout->addLayout(top);
  layout->addLayout(columns, 1);
  connect(return_, &QPushButton::clicked, this, &StartPage::return_wanted);
  connect(form_, &PlanForm::open_wanted, this, &StartPage::choose_file_wanted);
  connect(form_, &PlanForm::plan_wanted, this, &StartPage::plan_wanted);
  show_recent({});
}

QWidget* StartPage::build_recent() {
  recent_->setObjectName(QStringLiteral("recent"));
  recent_->setAccessibleName(tr("Recent work"));
  style::as_list(*recent_);
  recent_->horizontalHeader()->hide();
  recent_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  recent_->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  recent_->setTextElideMode(Qt::ElideMiddle);
  recent_->setTabKeyNavigation(false);
  recent_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(recent_, &QTableWidget::itemActivated, this, [this](const QTableWidgetItem* item) {
    const QTableWidgetItem* first = recent_->item(item->row(), 0);
    if (const QString file = first->data(kPathRole).toString(); !file.isEmpty())
      emit open_wanted(file);
  });
  auto* lesson = new QPushButton(tr("Learn It in a Lesson"), this);
  lesson->setAutoDefault(true);
  lesson->setToolTip(
      tr("The first of eight short lessons in this window: what a computation graph "
         "is, and what its training costs"));
  connect(lesson, &QPushButton::clicked, this, &StartPage::lesson_wanted);
  setTabOrder(recent_, lesson);
  return make_column(tr("Recent work"), recent_, lesson, this);
}

QWidget* StartPage::build_samples() {
  samples_->setObjectName(QStringLiteral("samples"));
  samples_->setAccessibleName(tr("Samples"));
  samples_->setHeaderHidden(true);
  samples_->setFrameShape(QFrame::NoFrame);
  samples_->setIndentation(4 * style::kGrid);
  samples_->setExpandsOnDoubleClick(false);
  fill_samples();
  connect(samples_, &QTreeWidget::itemSelectionChanged, this, [this] {
    const QList<QTreeWidgetItem*> chosen = samples_->selectedItems();
    if (!chosen.isEmpty()) choose_sample(*chosen.front());
  });
  connect(samples_, &QTreeWidget::itemActivated, this,
          [this](QTreeWidgetItem* item) { open_sample(*item); });
  connect(samples_, &QTreeWidget::itemClicked, this, [](QTreeWidgetItem* item) {
    if (item->childCount() > 0) item->setExpanded(!item->isExpanded());
  });
  return make_column(tr("Samples"), samples_, nullptr, this);
}

void StartPage::fill_samples() {
  add_samples_of(*samples_, tr("Models"), kModels, kKnownModels, FileKind::Model);
  QTreeWidgetItem* plans = add_heading_item(*samples_, tr("Plans"));
  if (const QString demo = bundled_workspace(); !demo.isEmpty())
    add_sample(*plans, tr("vgg19 on tag-testbed, searched"), demo, FileKind::Workspace);
  add_samples_of(*samples_, tr("Clusters"), kClusters, kKnownClusters, FileKind::Cluster);
}

void StartPage::show_recent(const QStringList& files) {
  recent_->setRowCount(0);
  for (const QString& file : files) {
    const int row = recent_->rowCount();
    recent_->insertRow(row);
    auto* name = new QTableWidgetItem(short_path(file));
    name->setData(kPathRole, file);
    auto* kind = new QTableWidgetItem(kind_word(plugins_, file));
    kind->setForeground(style::muted_text(palette()));
    for (QTableWidgetItem* item : {name, kind}) item->setToolTip(file);
    recent_->setItem(row, 0, name);
    recent_->setItem(row, 1, kind);
  }
  if (!files.isEmpty()) return;
  recent_->insertRow(0);
  auto* nothing = new QTableWidgetItem(tr("Nothing yet"));
  nothing->setForeground(style::muted_text(palette()));
  nothing->setFlags(Qt::NoItemFlags);
  recent_->setItem(0, 0, nothing);
}

// Models and clusters go into the fields; nothing is opened yet.
void StartPage::choose_sample(const QTreeWidgetItem& item) {
  const QString path = item.data(0, kPathRole).toString();
  if (path.isEmpty()) return;
  const auto kind = static_cast<FileKind>(item.data(0, kKindRole).toInt());
  if (kind == FileKind::Model) form_->choose_model(path);
  if (kind == FileKind::Cluster) form_->choose_cluster(item.text(0));
}

void StartPage::open_sample(const QTreeWidgetItem& item) {
  const QString path = item.data(0, kPathRole).toString();
  if (path.isEmpty()) return;
  if (static_cast<FileKind>(item.data(0, kKindRole).toInt()) == FileKind::Workspace)
    return emit open_wanted(bundled_workspace_copy());
  choose_sample(item);
  form_->plan();
}

bool StartPage::take(const QString& file) {
  try {
    switch (kind_of(plugins_, file)) {
      case FileKind::Model:
        form_->choose_model(file);
        return true;
      case FileKind::Cluster:
        form_->choose_cluster(file);
        return true;
      default:
        return false;
    }
  } catch (const InputError& error) {
    form_->say(text(error.what()));
    return true;
  }
}

void StartPage::take_keys() { recent_->setFocus(); }

void StartPage::say(const QString& trouble) { form_->say(trouble); }

void StartPage::offer_return(bool to_something) { return_->setVisible(to_something); }

}  // namespace strato
