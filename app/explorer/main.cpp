// stratoscope [FILE...]: the window. stratoscope --capture DIR [FILE...]: pictures of it, without a
// person.
#include <QApplication>
#include <QCommandLineParser>
#include <QStyleFactory>
#include <QTimer>
#include <cstdio>

#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"

namespace strato {
namespace {

QPalette dark_palette() {
  const QColor window(0x202124), base(0x17181a), text(0xe4e4e4), button(0x2b2c30);
  QPalette palette(button, window);
  for (const auto role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
    palette.setColor(role, text);
  }
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, window);
  palette.setColor(QPalette::ToolTipBase, button);
  palette.setColor(QPalette::Highlight, QColor(0x3a6ea5));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, QColor(0x64b5f6));
  palette.setColor(QPalette::PlaceholderText, QColor(0x8a8a8a));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(0x7d7d7d));
  }
  return palette;
}

// Opens, waits, draws. 2 when a file was bad, after one line for each.
int capture(const QString& folder, const QStringList& files) {
  Session session;
  int failures = 0;
  QObject::connect(&session, &Session::failed, [&](const QString& text) {
    std::fprintf(stderr, "stratoscope: %s\n", qPrintable(text));
    ++failures;
  });
  MainWindow window(session, false);
  window.show();
  window.open(files);
  session.settle();
  if (failures > 0) return 2;
  if (!window.capture(folder)) {
    std::fprintf(stderr,
                 "stratoscope: %s: cannot be written; check the folder and the space left\n",
                 qPrintable(folder));
    return 2;
  }
  return failures > 0 ? 2 : 0;
}

int explore(const QStringList& files) {
  Session session;
  MainWindow window(session, true);
  window.show();
  // After the first paint: an import never delays the window.
  QTimer::singleShot(0, &window, [&window, files] {
    if (!files.isEmpty()) {
      window.open(files);
    } else if (const QString bundled = bundled_workspace_copy(); !bundled.isEmpty()) {
      window.open({bundled});
    }
  });
  return QApplication::exec();
}

int run(QApplication& app) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("Strategy explorer for distributed DNN training"));
  const QCommandLineOption help = parser.addHelpOption();
  const QCommandLineOption version = parser.addVersionOption();
  const QCommandLineOption capture_option(
      QStringLiteral("capture"),
      QStringLiteral("Draw every view of what was opened into DIR as PNG, and exit."),
      QStringLiteral("DIR"));
  const QCommandLineOption dark(QStringLiteral("dark"),
                                QStringLiteral("Dark colours, whatever the system's are."));
  // Read by Qt itself before this parser; listed so that --help tells.
  parser.addOptions(
      {capture_option,
       dark,
       {QStringLiteral("platform"), QStringLiteral("Qt platform: xcb, wayland, offscreen."),
        QStringLiteral("NAME")}});
  parser.addPositionalArgument(QStringLiteral("FILE"),
                               QStringLiteral("Models, clusters, plans, profiles, workspaces."),
                               QStringLiteral("[FILE...]"));
  if (!parser.parse(app.arguments())) {
    std::fprintf(stderr, "stratoscope: %s; see stratoscope --help\n",
                 qPrintable(parser.errorText()));
    return 2;
  }
  if (parser.isSet(version)) parser.showVersion();
  if (parser.isSet(help)) parser.showHelp();
  if (parser.isSet(dark)) app.setPalette(dark_palette());
  return parser.isSet(capture_option)
             ? capture(parser.value(capture_option), parser.positionalArguments())
             : explore(parser.positionalArguments());
}

}  // namespace
}  // namespace strato

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  QApplication::setApplicationName(QStringLiteral("stratoscope"));
  QApplication::setOrganizationName(QStringLiteral("stratoscope"));
  QApplication::setApplicationVersion(QStringLiteral(STRATOSCOPE_VERSION));
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  return strato::run(app);
}
