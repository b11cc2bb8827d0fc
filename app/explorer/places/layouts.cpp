#include "app/explorer/places/layouts.h"

#include <QCoreApplication>
#include <QInputDialog>
#include <QJsonDocument>
#include <QMenu>
#include <QMessageBox>
#include <QSettings>

#include "app/explorer/places/centre.h"
#include "app/explorer/places/place_docks.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "views/style/file_choice.h"

namespace strato {
namespace {

constexpr int kMostLayouts = 20;  // in the menu
const QString kFormat = QStringLiteral("stratoscope-layout");

struct Layouts {
  Q_DECLARE_TR_FUNCTIONS(Layouts)
};

QString settings_key() { return QStringLiteral("window/layouts"); }

QJsonObject saved_layouts() {
  return QJsonDocument::fromJson(QSettings().value(settings_key()).toByteArray()).object();
}

void keep_layouts(const QJsonObject& all) {
  QSettings().setValue(settings_key(), QJsonDocument(all).toJson(QJsonDocument::Compact));
}

QString files() { return Layouts::tr("Layouts (*.layout.json);;All files (*)"); }

// What `work` does with a file, or a box that says why it cannot.
template <class Work>
void with_file(const QString& file, QWidget* parent, const Work& work) {
  if (file.isEmpty()) return;
  try {
    work(file);
  } catch (const InputError& error) {
    QMessageBox::warning(parent, QStringLiteral("Stratoscope"), QString::fromUtf8(error.what()));
  }
}

void save_under_a_name(QWidget* parent, const QJsonObject& layout) {
  const QString name =
      QInputDialog::getText(parent, Layouts::tr("Save layout"), Layouts::tr("Name of the layout:"))
          .trimmed();
  if (name.isEmpty()) return;
  QJsonObject all = saved_layouts();
  all[name] = layout;
  keep_layouts(all);
}

// Those that are saved, and under each of them nothing but what it does.
void fill_saved(QMenu& menu, Centre& centre, PlaceDocks& docks) {
  menu.clear();
  const QStringList names = saved_layouts().keys().mid(0, kMostLayouts);
  for (const QString& name : names)
    menu.addAction(
        QString(name).replace('&', QStringLiteral("&&")), &centre,
        [name, &centre, &docks] { use_layout(saved_layouts()[name].toObject(), centre, docks); });
  if (names.isEmpty()) return menu.addAction(Layouts::tr("None yet"))->setEnabled(false);
  menu.addSeparator();
  menu.addAction(Layouts::tr("Remove One…"), &centre, [&centre, names] {
    bool chosen = false;
    const QString name = QInputDialog::getItem(&centre, Layouts::tr("Remove layout"),
                                               Layouts::tr("Layout:"), names, 0, false, &chosen);
    QJsonObject all = saved_layouts();
    all.remove(name);
    if (chosen) keep_layouts(all);
  });
}

}  // namespace

QJsonObject layout_of(const Centre& centre, const PlaceDocks& docks) {
  return {{QStringLiteral("centre"), centre.layout()}, {QStringLiteral("docks"), docks.layout()}};
}

void use_layout(const QJsonObject& layout, Centre& centre, PlaceDocks& docks) {
  centre.restore(layout[QStringLiteral("centre")].toObject());
  docks.restore(layout[QStringLiteral("docks")].toObject());
}

void write_layout(const QString& file, const QJsonObject& layout) {
  QJsonObject whole = layout;
  whole[QStringLiteral("format")] = kFormat;
  whole[QStringLiteral("version")] = 1;
  write_file(file.toStdString(), QJsonDocument(whole).toJson().toStdString());
}

QJsonObject read_layout(const QString& file) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  const QByteArray content = QByteArray::fromStdString(read_file(file.toStdString(), kMostBytes));
  QJsonObject layout = QJsonDocument::fromJson(content).object();
  if (layout[QStringLiteral("format")].toString() != kFormat)
    throw InputError(file.toStdString(), "", "is no layout of the window",
                     "choose one that Window > Export Layout wrote");
  return layout;
}

void add_layout_actions(QMenu& menu, Centre& centre, PlaceDocks& docks) {
  menu.addAction(Layouts::tr("&Reset This Place"), &centre, [&centre, &docks] {
    centre.usual_layout();
    docks.usual_docks();
  });
  QMenu* saved = menu.addMenu(Layouts::tr("Saved &Layouts"));
  QObject::connect(saved, &QMenu::aboutToShow, &centre,
                   [saved, &centre, &docks] { fill_saved(*saved, centre, docks); });
  menu.addAction(Layouts::tr("Save Layout &As…"), &centre,
                 [&centre, &docks] { save_under_a_name(&centre, layout_of(centre, docks)); });
  menu.addAction(Layouts::tr("E&xport Layout…"), &centre, [&centre, &docks] {
    with_file(style::file_to_write(&centre, Layouts::tr("Export layout"),
                                   QStringLiteral("window.layout.json"), files()),
              &centre, [&](const QString& file) { write_layout(file, layout_of(centre, docks)); });
  });
  menu.addAction(Layouts::tr("&Import Layout…"), &centre, [&centre, &docks] {
    with_file(style::file_to_open(&centre, Layouts::tr("Import layout"), files()), &centre,
              [&](const QString& file) { use_layout(read_layout(file), centre, docks); });
  });
}

}  // namespace strato
