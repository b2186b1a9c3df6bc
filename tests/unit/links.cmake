dlasim_test(agenda_test.cpp quick USES dlasim::links)
dlasim_test(gated_clock_test.cpp quick USES dlasim::links)
dlasim_test(wire_test.cpp quick USES dlasim::links)
dlasim_test(quantity_test.cpp quick USES dlasim::traffic)
