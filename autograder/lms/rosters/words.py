"""The words over columns of rosters, in the languages in which their meaning is certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

FIRST_NAME = (
    "First name",
    "first_name",
    "firstname",
    "Given name",
    "given_name",
    "givenname",
    "Vorname",
    "Prénom",
    "Voornaam",
    "Förnamn",
    "Fornavn",
    "Etunimi",
    "Imię",
)
LAST_NAME = (
    "Last name",
    "last_name",
    "lastname",
    "Surname",
    "Family name",
    "family_name",
    "familyname",
    "Nachname",
    "Familienname",
    "Nom de famille",
    "Apellido",
    "Apellidos",
    "Apellido(s)",
    "Cognome",
    "Sobrenome",
    "Apelido",
    "Achternaam",
    "Efternamn",
    "Efternavn",
    "Etternavn",
    "Sukunimi",
    "Nazwisko",
)
NAME = (
    "Full name",
    "full_name",
    "fullname",
    "Student name",
    "student_name",
    "Student",
    "Vollständiger Name",
    "Nom complet",
    "Nom et prénom",
    "Nombre / Apellido(s)",
    "Nome / Cognome",
    "Nombre completo",
    "Nome completo",
    "Volledige naam",
)
EITHER_LAST = ("Name", "Nom", "Naam")
"""The family name beside a column of first names, else the whole name."""
EITHER_FIRST = ("Nombre", "Nome")
"""The first name beside a column of family names, else the whole name."""
EMAIL = (
    "Email",
    "E-mail",
    "Mail",
    "Email address",
    "E-mail address",
    "email_address",
    "E-Mail-Adresse",
    "E-Mailadresse",
    "Mailadresse",
    "Adresse de courriel",
    "Adresse e-mail",
    "Adresse email",
    "Adresse électronique",
    "Adresse de messagerie",
    "Courriel",
    "Correo",
    "Correo electrónico",
    "Dirección de correo electrónico",
    "Dirección de email",
    "Dirección de correo",
    "Indirizzo email",
    "Indirizzo e-mail",
    "Endereço de e-mail",
    "Endereço de email",
    "Adreça electrònica",
    "E-mailadres",
    "E-postadress",
)
LOGIN = (
    "Username",
    "user_name",
    "User name",
    "Login",
    "login_id",
    "Login ID",
    "eid",
    "NetID",
    "Anmeldename",
    "Benutzername",
    "Nom d'utilisateur",
    "Identifiant de connexion",
    "Nom d'usuari",
    "Nombre de usuario",
    "Nome utente",
    "Nome de usuário",
    "Nome de utilizador",
    "Gebruikersnaam",
    "Användarnamn",
)
SIS = (
    "ID number",
    "idnumber",
    "id_number",
    "SID",
    "sis_id",
    "Student number",
    "student_number",
    "Matriculation number",
    "Matrikelnummer",
    "ID-Nummer",
    "Matrikelnr.",
    "Matrikel-Nr.",
    "Matr.-Nr.",
    "Student ID number",
    "Student No.",
    "Numéro d'identification",
    "Numéro d'étudiant",
    "Numéro étudiant",
    "N° étudiant",
    "Número de ID",
    "Número de identificación",
    "Número de identificação",
    "Número ID",
    "Número d'identificació",
    "Codice identificativo",
    "Numero di matricola",
    "Numero ID",
    "Matricola",
    "Matrícula",
    "Studentnummer",
)
GRADE_MODIFIED = (
    *("Last modified (grade)", "Zuletzt geändert (Bewertung)", "Dernière modification (note)"),
    *("Última modificación (calificación)", "Última modificação (nota)"),
    *("Última atualização (avaliação)", "Darrera modificació (qualificació)"),
    *("Ultima modifica (valutazione)", "Laatst gewijzigd (cijfer)"),
)
"""What only a grading worksheet of Moodle has."""
STUDENT = ("id", "student_id", "Student ID", "studentid")
SECTIONS = (
    "Section",
    "Sections",
    "Group",
    "Groups",
    "Team",
    "Gruppe",
    "Gruppen",
    "Groupe",
    "Groupes",
    "Grupo",
    "Grupos",
    "Gruppo",
    "Gruppi",
    "Groep",
    "Groepen",
)


@dataclass(frozen=True, slots=True)
class NameColumns:
    """
    Where the names are.

    Parameters
    ----------
    first, last, whole : int or None
        Columns from 0; None if there is none.
    """

    first: int | None = None
    last: int | None = None
    whole: int | None = None

    @property
    def found(self) -> bool:
        """True if any is there."""
        return (self.first, self.last, self.whole) != (None, None, None)


def name_columns(sheet: Sheet) -> NameColumns:
    """
    Return where the names are.

    Parameters
    ----------
    sheet : Sheet
        Any roster.

    Returns
    -------
    NameColumns
        "Name" and the like mean the family name beside "Vorname", else the whole name;
        "Nombre" and the like mean the first name beside "Apellidos", else the whole name.

    Raises
    ------
    CourseError
        If two columns have one header.
    """
    first, last, whole = (sheet.column(*names) for names in (FIRST_NAME, LAST_NAME, NAME))
    either_last, either_first = sheet.column(*EITHER_LAST), sheet.column(*EITHER_FIRST)
    if last is None and first is not None and whole is None:
        last = either_last
    elif first is None and last is not None and whole is None:
        first = either_first
    taken = {first, last}
    for either in (either_last, either_first):
        if whole is None and either not in taken:
            whole = either
    return NameColumns(first, last, whole)
