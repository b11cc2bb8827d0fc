#include "views/compare/report_file.h"

#include "core/io/file.h"

namespace strato {

void write_report(QObject& owner, Session& session, Worker& worker,
                  const std::filesystem::path& file, std::function<std::string()> make) {
  worker.post([&owner, &session, file, make = std::move(make)] {
    QString error;
    try {
      write_file(file, make());
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    const auto tell = [&session, file, error] {
      if (!error.isEmpty()) return session.failed(error);
      session.written(QString::fromStdString(file.string()));
    };
    QMetaObject::invokeMethod(&owner, tell, Qt::QueuedConnection);
  });
}

}  // namespace strato
