// The program itself where there is no display: what it can still do, and what it says.
#include <gtest/gtest.h>

#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>

namespace strato {
namespace {

struct Said {
  int status = -1;  // -1: it crashed
  QString out, err;
};

Said say(const QStringList& arguments) {
  QProcess program;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    environment.remove(QLatin1String(name));
  program.setProcessEnvironment(environment);
  program.start(QStringLiteral(STRATO_WINDOW), arguments);
  if (!program.waitForFinished(120'000)) return {};
  return {program.exitStatus() == QProcess::NormalExit ? program.exitCode() : -1,
          QString::fromUtf8(program.readAllStandardOutput()),
          QString::fromUtf8(program.readAllStandardError())};
}

TEST(NoDisplay, HelpAndVersionAreTold) {
  for (const char* option : {"--help", "-h", "--help-all"}) {
    const Said help = say({QLatin1String(option)});
    EXPECT_EQ(help.status, 0) << help.err.toStdString();
    EXPECT_TRUE(help.out.contains(QStringLiteral("--capture"))) << option;
  }
  const Said version = say({QStringLiteral("--version")});
  EXPECT_EQ(version.status, 0) << version.err.toStdString();
  EXPECT_TRUE(version.out.startsWith(QStringLiteral("stratoscope ")));
}

TEST(NoDisplay, AWindowIsRefusedInOneLine) {
  for (const QStringList& arguments :
       {QStringList(), QStringList{QStringLiteral("model.onnx")},
        QStringList{QStringLiteral("--batch"), QStringLiteral("32")}}) {
    const Said said = say(arguments);
    EXPECT_EQ(said.status, 3);
    EXPECT_TRUE(said.err.startsWith(QStringLiteral("stratoscope: no display")))
        << said.err.toStdString();
    EXPECT_EQ(said.err.count(QLatin1Char('\n')), 1);
  }
}

TEST(NoDisplay, PicturesNeedNone) {
  const QTemporaryDir folder;
  const Said said = say({QStringLiteral("--capture=") + folder.path()});
  EXPECT_EQ(said.status, 0) << said.err.toStdString();
  EXPECT_TRUE(QFileInfo::exists(folder.filePath(QStringLiteral("window.png"))));
}

}  // namespace
}  // namespace strato
