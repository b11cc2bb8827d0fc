// The selected range of the timeline (without one: the whole step) as a file.
#include <QFileInfo>
#include <QMenu>
#include <QPainter>

#include "core/base/error.h"
#include "core/io/file.h"
#include "views/models/background_pool.h"
#include "views/style/file_choice.h"
#include "views/style/svg_file.h"
#include "views/timeline/range_export.h"
#include "views/timeline/timeline_view.h"

namespace strato {

void TimelineView::add_export_actions(QMenu& menu) {
  const bool range = session_.selection().range().has_value();
  QMenu* formats = menu.addMenu(range ? tr("&Export the Range") : tr("&Export the Step"));
  const auto add = [&](const QString& text, const QString& suffix) {
    formats->addAction(text, this, [this, suffix] {
      const QString file = style::file_to_write(
          this, tr("Export"), session_.model_name() + QStringLiteral(".timeline") + suffix,
          QLatin1Char('*') + suffix);
      if (!file.isEmpty()) export_range(file);
    });
  };
  add(tr("&Chrome Trace (JSON)…"), QStringLiteral(".json"));
  add(tr("&Table (CSV)…"), QStringLiteral(".csv"));
  add(tr("Picture (&SVG)…"), QStringLiteral(".svg"));
  add(tr("Picture (&PNG)…"), QStringLiteral(".png"));
}

void TimelineView::export_range(const QString& file) {
  const auto rows = canvas_->rows();
  if (!rows) return;
  const TimeRange range =
      session_.selection().range().value_or(TimeRange{Nanos(0), rows->timeline->step_time});
  const QString suffix = QFileInfo(file).suffix().toLower();
  if (suffix == QLatin1String("svg") || suffix == QLatin1String("png")) {
    export_picture(file, range);
  } else {
    export_text(file, range);
  }
}

void TimelineView::export_picture(const QString& file, TimeRange range) {
  const QSize size(std::max(800, canvas_->width()), canvas_->whole_height());
  bool written = false;
  if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
    written = style::write_svg(file, size, session_.model_name(),
                               [&](QPainter& painter) { canvas_->paint_to(painter, size, range); });
  } else {
    QImage image(size, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    painter.setFont(canvas_->font());
    canvas_->paint_to(painter, size, range);
    written = painter.end() && image.save(file);
  }
  tell_written(
      file, written ? QString()
                    : tr("%1: cannot be written; check the folder and the space left").arg(file));
}

// Written by a worker thread, with what it needs for that.
void TimelineView::export_text(const QString& file, TimeRange range) {
  const Snapshot snapshot = session_.snapshot();
  const auto timeline = canvas_->rows()->timeline;
  const bool shown = snapshot.outcome && snapshot.outcome->timeline == timeline;
  const bool csv = file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
  if (!csv && !shown) return;  // a trace is of an outcome
  auto grouping = shown && snapshot.problem ? snapshot.problem->grouping : nullptr;
  const PluginRegistry& plugins = session_.plugins();  // outlives this view
  const QFuture<QString> done = QtConcurrent::run(
      background_pool(), [=, &plugins, path = std::filesystem::path(file.toStdString())] {
        try {
          if (csv) {
            write_file(path, range_csv(*timeline, grouping.get(), range.begin, range.end));
            return QString();
          }
          const ExportInput input{*snapshot.problem, snapshot.strategy, *snapshot.outcome};
          const std::string trace = plugins.exporter("chrome-trace")->write(input);
          write_file(path, range_of_trace(trace, range.begin, range.end));
          return QString();
        } catch (const InputError& error) {
          return QString::fromUtf8(error.what());
        }
      });
  auto* watcher = new QFutureWatcher<QString>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, file] {
    tell_written(file, watcher->result());
    watcher->deleteLater();
  });
  watcher->setFuture(done);
  exports_.addFuture(done);
}

void TimelineView::tell_written(const QString& file, const QString& problem) {
  if (problem.isEmpty()) {
    emit session_.written(file);
  } else {
    emit session_.failed(problem);
  }
}

}  // namespace strato
