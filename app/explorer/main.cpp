// stratoscope [--batch N] [--set-dim NAME=N] [FILE...]: the window. stratoscope --capture DIR
// [--size WxH] [--dark] [FILE...]: pictures of it, without a person (resources/help/pictures makes
// all that the help shows).
#include <QApplication>
#include <QCommandLineParser>
#include <QLocale>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/explorer/ask_dimension.h"
#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/translations.h"
#include "core/io/samples.h"
#include "views/style/outlined_style.h"

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
int capture(const QString& folder, const QSize& size, const QStringList& files,
            const ImportOptions& import) {
  Session session;
  int failures = 0;
  QObject::connect(&session, &Session::failed, [&](const QString& text) {
    std::fprintf(stderr, "stratoscope: %s\n", qPrintable(text));
    ++failures;
  });
  MainWindow window(session, false);
  window.show();
  window.open(files, import);
  session.settle();
  if (failures > 0) return 2;
  if (!window.capture(folder, size)) {
    std::fprintf(stderr,
                 "stratoscope: %s: cannot be written; check the folder and the space left\n",
                 qPrintable(folder));
    return 2;
  }
  return failures > 0 ? 2 : 0;
}

// Names of bundled samples stand for their files, as on the command line.
QStringList files_of(const QStringList& given) {
  QStringList files;
  for (const QString& name : given) {
    const std::string text = name.toStdString();
    const std::filesystem::path model = sample_or_file(text, kModels);
    files << QString::fromStdString(
        (model == text ? sample_or_file(text, kClusters) : model).string());
  }
  return files;
}

int explore(const QStringList& files, const ImportOptions& import) {
  Session session;
  MainWindow window(session, true);
  window.show();
  // After the first paint: an import never delays the window.
  QTimer::singleShot(0, &window, [&window, files, import] {
    if (files.isEmpty()) {
      window.open_last();
    } else {
      window.open(files, import);
    }
  });
  return QApplication::exec();
}

// "1280x800"; nothing when it is no size that a window can have.
std::optional<QSize> size_from(const QString& text) {
  const QStringList parts = text.split(QLatin1Char('x'));
  if (parts.size() != 2) return std::nullopt;
  bool wide = false, high = false;
  const QSize size(parts[0].toInt(&wide), parts[1].toInt(&high));
  const bool possible = size.width() >= 320 && size.height() >= 240 && size.width() <= 16384 &&
                        size.height() <= 16384;
  return wide && high && possible ? std::optional(size) : std::nullopt;
}

// Empty: the system's, or English where there are no words for that. False: there is no such.
bool choose_language(const QString& code) {
  const QLocale locale = code.isEmpty() ? QLocale::system() : QLocale(code);
  if (install_translation(locale) || code.isEmpty() || locale.language() == QLocale::English)
    return true;
  std::fprintf(
      stderr,
      "stratoscope: --language %s: there is no translation; put stratoscope_%s.qm into %s\n",
      qPrintable(code), qPrintable(code), qPrintable(translation_folders().front()));
  return false;
}

struct CommandLine {
  QCommandLineParser parser;
  QCommandLineOption help = parser.addHelpOption(), version = parser.addVersionOption();
  QCommandLineOption capture{
      QStringLiteral("capture"),
      QStringLiteral("Draw every view of what was opened into DIR as PNG, and exit."),
      QStringLiteral("DIR")};
  QCommandLineOption size{QStringLiteral("size"),
                          QStringLiteral("Of the window in --capture: 1280x800, 800x600."),
                          QStringLiteral("WxH"), QStringLiteral("1280x800")};
  QCommandLineOption dark{QStringLiteral("dark"),
                          QStringLiteral("Dark colours, whatever the system's are.")};
  QCommandLineOption language{
      QStringLiteral("language"),
      QStringLiteral("Of the window's words, where there is a translation: de, pt_BR; en: none. "
                     "Default: the system's."),
      QStringLiteral("CODE")};
  QCommandLineOption batch{QStringLiteral("batch"),
                           QStringLiteral("Samples in one step of the models, over all devices."),
                           QStringLiteral("N")};
  QCommandLineOption set_dim{
      QStringLiteral("set-dim"),
      QStringLiteral("Binds another symbolic dimension of the models, or a number that loops and "
                     "branches hang on; may be given again."),
      QStringLiteral("NAME=N")};
  // Read by Qt itself, too: before this parser where there is a window.
  QCommandLineOption platform{QStringLiteral("platform"),
                              QStringLiteral("Qt platform: xcb, wayland, offscreen."),
                              QStringLiteral("NAME")};

  CommandLine() {
    parser.setApplicationDescription(
        QStringLiteral("Strategy explorer for distributed DNN training"));
    parser.addOptions({capture, size, dark, language, batch, set_dim, platform});
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 QStringLiteral("Models, clusters (files, or names of samples), "
                                                "plans, profiles, workspaces, recorded traces."),
                                 QStringLiteral("[FILE...]"));
  }
};

// What needs no display: words that were asked for. Ends the program then.
void answer(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  CommandLine line;
  if (!line.parser.parse(QCoreApplication::arguments())) return;  // it may be Qt's own
  if (line.parser.isSet(line.version)) line.parser.showVersion();
  if (line.parser.isSet(line.help) || line.parser.isSet(QStringLiteral("help-all")))
    line.parser.showHelp();
}

// Qt would abort where there is nothing to show a window on. Pictures need none.
bool has_display(int argc, char** argv) {
#ifdef Q_OS_LINUX
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const auto names = [&](std::string_view name) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
      return word == name || word.starts_with(std::string(name) + "=");
    });
  };
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (!qEnvironmentVariableIsEmpty(variable)) return true;
  if (names("platform")) return true;
  if (!names("capture")) return false;
  qputenv("QT_QPA_PLATFORM", "offscreen");
#endif
  return true;
}

int run() {
  CommandLine line;
  QCommandLineParser& parser = line.parser;
  if (!parser.parse(QCoreApplication::arguments())) {
    std::fprintf(stderr, "stratoscope: %s; see stratoscope --help\n",
                 qPrintable(parser.errorText()));
    return 2;
  }
  if (!choose_language(parser.value(line.language))) return 2;
  if (parser.isSet(line.dark)) QApplication::setPalette(dark_palette());
  QString problem;
  const std::optional<ImportOptions> import =
      import_options_from(parser.value(line.batch), parser.values(line.set_dim), problem);
  if (!import) {
    std::fprintf(stderr, "stratoscope: %s\n", qPrintable(problem));
    return 2;
  }
  if (!parser.isSet(line.capture)) return explore(files_of(parser.positionalArguments()), *import);
  const auto size = size_from(parser.value(line.size));
  if (!size) {
    std::fprintf(
        stderr, "stratoscope: --size %s: is no size; write 1280x800, from 320x240 to 16384x16384\n",
        qPrintable(parser.value(line.size)));
    return 2;
  }
  return capture(parser.value(line.capture), *size, files_of(parser.positionalArguments()),
                 *import);
}

}  // namespace
}  // namespace strato

int main(int argc, char** argv) {
  QCoreApplication::setApplicationName(QStringLiteral("stratoscope"));
  QCoreApplication::setOrganizationName(QStringLiteral("stratoscope"));
  QCoreApplication::setApplicationVersion(QStringLiteral(STRATOSCOPE_VERSION));
  strato::answer(argc, argv);
  if (!strato::has_display(argc, argv)) {
    std::fputs(
        "stratoscope: no display (DISPLAY and WAYLAND_DISPLAY are empty); log in with one, draw "
        "pictures with --capture DIR, or use stratoscope-cli\n",
        stderr);
    return 3;
  }
  const QApplication app(argc, argv);
  QApplication::setStyle(new strato::style::OutlinedStyle);
  return strato::run();
}
