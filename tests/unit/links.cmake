dlasim_test(agenda_test.cpp quick USES dlasim::links)
